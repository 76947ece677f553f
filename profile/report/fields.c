#include "profile/report/fields.h"

#include <assert.h>
#include <inttypes.h>

#include "profile/model/format.h"
#include "profile/model/human.h"

/* ---- Getters ---- */

struct datum get_bool(const void *context, const void *at)
{
    (void)context;
    return datum_bool(*(const bool *)at);
}

struct datum get_double(const void *context, const void *at)
{
    (void)context;
    return datum_number(*(const double *)at);
}

struct datum get_str(const void *context, const void *at)
{
    (void)context;
    return datum_string(*(const struct str *)at);
}

struct datum get_name(const void *context, const void *at)
{
    (void)context;
    return datum_name(*(const char *const *)at);
}

struct datum get_i64(const void *context, const void *at)
{
    (void)context;
    return datum_integer(*(const int64_t *)at);
}

struct datum get_u64(const void *context, const void *at)
{
    (void)context;
    return datum_count(*(const uint64_t *)at);
}

struct datum get_u32(const void *context, const void *at)
{
    (void)context;
    return datum_count(*(const uint32_t *)at);
}

struct datum get_known_i64(const void *context, const void *at)
{
    int64_t known = *(const int64_t *)at;
    (void)context;
    return known < 0 ? datum_null() : datum_integer(known);
}

const void *reach_pointer(const void *context, const void *at)
{
    const void *behind;
    (void)context;
    memcpy(&behind, at, sizeof behind);
    return behind;
}

static const void *at_offset(const void *item, const struct field *field)
{
    return (const char *)item + field->offset;
}

/* Returns the record that a group describes, or NULL if there is none. */
static const void *reach_group(const struct field *group, const void *context, const void *item)
{
    const void *at = at_offset(item, group);
    return group->reach ? group->reach(context, at) : at;
}

static const void *rows_row(const struct rows *rows, uint32_t i)
{
    return (const char *)rows->first + rows->size * (rows->order ? rows->order[i] : i);
}

static bool is_shown_row(const struct rows *rows, const void *context, const void *item)
{
    return !rows->wanted || rows->wanted(context, item);
}

/* ---- JSON ---- */

static void put_json_place(struct json_writer *w, const char *key, const struct datum *place)
{
    if (place->as.place.file.n == 0) {
        json_put_null(w, key);
        return;
    }
    json_open_object(w, key);
    json_put_str(w, "file", place->as.place.file);
    json_put_u64(w, "line", place->as.place.line);
    json_put_str(w, place->as.place.text_key ? place->as.place.text_key : "code",
                 place->as.place.text);
    json_close(w);
}

void json_put_datum(struct json_writer *w, const char *key, const struct datum *value)
{
    switch (value->kind) {
    case DATUM_ABSENT: return;
    case DATUM_NULL: json_put_null(w, key); return;
    case DATUM_STRING: json_put_str(w, key, value->as.string); return;
    case DATUM_UNSIGNED: json_put_u64(w, key, value->as.count); return;
    case DATUM_SIGNED: json_put_i64(w, key, value->as.integer); return;
    case DATUM_NUMBER: json_put_double(w, key, value->as.number); return;
    case DATUM_BOOL: json_put_bool(w, key, value->as.is); return;
    case DATUM_PLACE: put_json_place(w, key, value); return;
    }
}

static void put_group(const struct field *group, const void *context, const void *item,
                      struct json_writer *w)
{
    const void *of = reach_group(group, context, item);
    if (!of && group->key)
        json_put_null(w, group->key);
    if (!of)
        return;
    if (group->key)
        json_open_object(w, group->key);
    fields_json(group->group, context, of, w);
    if (group->key)
        json_close(w);
}

void fields_json(const struct fields *fields, const void *context, const void *item,
                 struct json_writer *w)
{
    for (size_t i = 0; i < fields->n; i++) {
        const struct field *f = &fields->v[i];
        if (f->json) {
            f->json(context, at_offset(item, f), w, f->key);
        } else if (f->group) {
            put_group(f, context, item, w);
        } else if (f->key) {
            struct datum value = f->get(context, at_offset(item, f));
            json_put_datum(w, f->key, &value);
        }
    }
}

void fields_json_rows(struct json_writer *w, const char *key, const struct fields *fields,
                      const void *context, const struct rows *rows, uint32_t limit)
{
    uint32_t shown = 0;
    json_open_array(w, key);
    for (uint32_t i = 0; i < rows->n && (limit == 0 || shown < limit); i++) {
        const void *item = rows_row(rows, i);
        if (!is_shown_row(rows, context, item))
            continue;
        json_open_object(w, NULL);
        fields_json(fields, context, item, w);
        json_close(w);
        shown++;
    }
    json_close(w);
}

/* ---- Text ---- */

static enum column_kind column_kind(enum unit unit)
{
    switch (unit) {
    case UNIT_WORD: return COLUMN_LEFT;
    case UNIT_TEXT:
    case UNIT_LIST: return COLUMN_WIDE;
    case UNIT_PATH: return COLUMN_PATH;
    case UNIT_MARKUP: return COLUMN_MARKUP;
    default: return COLUMN_RIGHT;
    }
}

/* Puts the columns of a table into their places. */
static void place_columns(struct text_table *t, const struct fields *fields, unsigned table,
                          const struct field *const *groups, unsigned depth)
{
    const struct field *around[FIELD_DEPTH] = { NULL };
    for (unsigned i = 0; i < depth; i++)
        around[i] = groups[i];
    for (size_t i = 0; i < fields->n; i++) {
        const struct field *f = &fields->v[i];
        const struct field_place *place = &f->in_text[table];
        if (f->group && !f->cell) {
            assert(depth < FIELD_DEPTH);
            around[depth] = f;
            place_columns(t, f->group, table, around, depth + 1);
        } else if (place->at > 0) {
            size_t c = place->at - 1U;
            assert(c < TEXT_COLUMNS && !t->from[c].field);
            t->columns[c] = (struct column){ place->title, column_kind(place->unit), place->spare };
            t->from[c].field = f;
            t->from[c].place = place;
            t->from[c].depth = depth;
            memcpy(t->from[c].groups, around, depth * sizeof *around);
            t->table.n_columns = c + 1 > t->table.n_columns ? c + 1 : t->table.n_columns;
        }
    }
}

/* Removes places that no field has. */
static void close_up(struct text_table *t)
{
    size_t n = 0;
    for (size_t c = 0; c < t->table.n_columns; c++)
        if (t->from[c].field) {
            t->columns[n] = t->columns[c];
            t->from[n++] = t->from[c];
        }
    t->table.n_columns = n;
}

void text_table_init(struct text_table *t, const struct fields *fields, unsigned table)
{
    *t = (struct text_table){ .table = { .columns = t->columns } };
    place_columns(t, fields, table, NULL, 0);
    close_up(t);
}

void text_table_arrange(struct text_table *t, const unsigned char *places)
{
    struct text_table all = *t;
    size_t n = 0;
    for (; places[n] != 0; n++)
        for (size_t c = 0; c < all.table.n_columns; c++)
            if (all.from[c].place->at == places[n]) {
                t->columns[n] = all.columns[c];
                t->from[n] = all.from[c];
            }
    t->table.n_columns = n;
}

static void cell_signed(struct table *table, enum unit unit, int64_t value)
{
    char text[HUMAN_SIZE];
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    if (unit == UNIT_NS || (unit == UNIT_SPENT && value > 0))
        table_ns(table, value);
    else if (unit == UNIT_SPENT || (unit == UNIT_GROWTH && value == 0))
        table_text(table, STR(""));
    else if (unit == UNIT_GROWTH)
        table_printf(table, "%c%s", value < 0 ? '-' : '+', human_bytes(text, size));
    else
        table_printf(table, "%" PRId64, value);
}

static void cell_unsigned(struct table *table, enum unit unit, uint64_t value)
{
    char text[HUMAN_SIZE];
    switch (unit) {
    case UNIT_COUNT: table_count(table, value); return;
    case UNIT_NUMBER: table_u64(table, value); return;
    case UNIT_BYTES: table_text(table, str_of(value ? human_bytes(text, value) : "")); return;
    case UNIT_NS:
    case UNIT_SPENT:
        cell_signed(table, unit, value > INT64_MAX ? INT64_MAX : (int64_t)value);
        return;
    default: table_printf(table, "%" PRIu64, value); return;
    }
}

static void put_share(struct buf *out, double share)
{
    enum { WHOLE = 1000000000 };
    int64_t part = (int64_t)(share * WHOLE + 0.5);
    format_share(out, share > 0 && part == 0 ? 1 : part, WHOLE);
}

static void cell_number(struct table *table, enum unit unit, double value)
{
    struct buf *out = &table->text;
    switch (unit) {
    case UNIT_US: format_us(out, value); break;
    case UNIT_SHARE: put_share(out, value); break;
    case UNIT_BYTES_PER_US: format_rate(out, value, "B/s"); break;
    case UNIT_FLOPS_PER_US: format_rate(out, value, "FLOP/s"); break;
    default:
        if (value != 0)
            buf_printf(out, "%.2f", value);
        else
            buf_putc(out, '-');
        break;
    }
    table_cell(table);
}

static void cell_value(struct table *table, enum unit unit, const struct datum *value)
{
    switch (value->kind) {
    case DATUM_ABSENT:
    case DATUM_NULL:
        if (unit < UNIT_US)
            buf_putc(&table->text, '-');
        table_cell(table);
        return;
    case DATUM_STRING: table_text(table, value->as.string); return;
    case DATUM_UNSIGNED: cell_unsigned(table, unit, value->as.count); return;
    case DATUM_SIGNED: cell_signed(table, unit, value->as.integer); return;
    case DATUM_NUMBER: cell_number(table, unit, value->as.number); return;
    case DATUM_BOOL: table_text(table, value->as.is ? STR("yes") : STR("no")); return;
    case DATUM_PLACE: table_place(table, value->as.place.file, value->as.place.line); return;
    }
}

void text_table_row(struct text_table *t, const void *context, const void *item)
{
    struct table *table = &t->table;
    for (size_t c = 0; c < table->n_columns; c++) {
        const struct field *f = t->from[c].field;
        const void *of = item;
        for (unsigned d = 0; of && d < t->from[c].depth; d++)
            of = reach_group(t->from[c].groups[d], context, of);
        if (!of) {
            table_text(table, STR(""));
        } else if (f->cell) {
            size_t before = table->text.n;
            f->cell(context, at_offset(of, f), &table->text);
            if (table->text.n == before && t->from[c].place->unit != UNIT_LIST)
                buf_putc(&table->text, '-');
            table_cell(table);
        } else {
            struct datum value = f->get(context, at_offset(of, f));
            cell_value(table, t->from[c].place->unit, &value);
        }
    }
}

uint32_t text_table_rows(struct text_table *t, const void *context, const struct rows *rows,
                         uint32_t limit)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < rows->n; i++) {
        const void *item = rows_row(rows, i);
        if (is_shown_row(rows, context, item) && (n++ < limit || limit == 0))
            text_table_row(t, context, item);
    }
    return n;
}
