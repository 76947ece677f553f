/* .pt2 archives: both containers, and the archives of ../shared/exports. */
#include "trace/pt2/pt2.h"

#include <dirent.h>
#include <stdlib.h>

#include "tests/trace/pt2/zip_make.h"

#define META(dtype, sizes, strides, offset)                                                \
    "{\"dtype\": " dtype ", \"sizes\": [" sizes "], \"requires_grad\": true, \"device\": " \
    "{\"type\": \"cuda\", \"index\": 1}, \"strides\": [" strides "], \"storage_offset\": " \
    "{\"as_int\": " offset "}, \"layout\": 7}"
#define INT(n) "{\"as_int\": " n "}"
#define PAYLOAD(fqn, path, is_param, use_pickle, meta)                   \
    "\"" fqn "\": {\"path_name\": \"" path "\", \"is_param\": " is_param \
    ", \"use_pickle\": " use_pickle ", \"tensor_meta\": " meta "}"
#define CONFIG(payloads) "{\"config\": {" payloads "}}"
#define F32              "7"

static const struct str PROGRAM = { "{\"graph_module\": {\"graph\": {}}}", 31 };
static const struct str BYTES24 = { "abcdefghijklmnopqrstuvwx", 24 };

static void add(struct zip_make *make, const char *name, struct str text)
{
    make_member(make, str_of(name), text, false);
}

/* The members that every PT2_ARCHIVE has, below "m/". */
static void add_frame(struct zip_make *make)
{
    make->descriptor = true;
    add(make, "m/models/model.json", PROGRAM);
    add(make, "m/archive_format", STR("pt2"));
    add(make, "m/archive_version", STR("0"));
    add(make, "m/byteorder", STR("little"));
}

static void open_made(struct zip_make *make, struct pt2 *pt2)
{
    struct err err = ERR_INIT;
    if (!pt2_open(pt2, make_finish(make, ""), NULL, &err))
        fail_msg("%s", err.text);
    assert_no_err(&err);
}

static const struct pt2_weight *weight_named(const struct pt2 *pt2, const char *fqn)
{
    for (uint32_t i = 0; i < pt2->models[0].n_weights; i++)
        if (str_is(pt2->models[0].weights[i].fqn, fqn))
            return &pt2->models[0].weights[i];
    fail_msg("no weight %s", fqn);
    return NULL;
}

static void test_an_archive_lists_its_models(void **state)
{
    (void)state;
    struct zip_make make = { 0 };
    struct pt2 pt2;
    add(&make, "m/models/second.json", PROGRAM);
    add_frame(&make);
    add(&make, "m/data/sample_inputs/second.pt", STR("pickle"));
    add(&make, "m/models/.json", PROGRAM);
    add(&make, "elsewhere/models/third.json", PROGRAM);
    open_made(&make, &pt2);
    assert_int_equal(pt2.container, PT2_ARCHIVE);
    assert_str_is(pt2.root, "m/");
    assert_str_is(pt2.version, "0");
    assert_str_is(pt2.byte_order, "little");
    assert_int_equal(pt2.n_models, 2);
    assert_str_is(pt2.models[0].name, "second");
    assert_str_is(pt2.models[0].program->name, "m/models/second.json");
    assert_str_is(pt2.models[0].sample_inputs->name, "m/data/sample_inputs/second.pt");
    assert_str_is(pt2.models[1].name, "model");
    assert_null(pt2.models[1].sample_inputs);
    assert_int_equal(pt2.models[1].n_weights, 0);
    pt2_close(&pt2);
    make_release(&make);
}

static void check_weight_bytes(const struct pt2_weight *w, const struct pt2 *pt2)
{
    assert_true(w->readable);
    assert_int_equal(w->bytes, 24);
    assert_memory_equal(pt2->zip.bytes.p + w->offset, BYTES24.p, 24);
}

static void check_weights(const char *weights_config, const char *constants_config)
{
    struct zip_make make = { 0 };
    struct pt2 pt2;
    add_frame(&make);
    add(&make, "m/data/weights/weight_0", BYTES24);
    add(&make, weights_config,
        STR(CONFIG(PAYLOAD("l.w", "weight_0", "true", "false",
                           META(F32, INT("2") "," INT("3"), INT("1") "," INT("2"),
                                "0")) "," PAYLOAD("l.\\u00e9", "weight_0", "false", "false",
                                                  META("5", INT("1"), INT("1"), "2")))));
    add(&make, "m/data/constants/tensor_0", BYTES24);
    add(&make, constants_config,
        STR(CONFIG(PAYLOAD("c", "tensor_0", "false", "false", META(F32, "", "", "5")) "," PAYLOAD(
            "obj", "custom_obj_0", "false", "true", "null"))));
    open_made(&make, &pt2);
    assert_int_equal(pt2.models[0].n_weights, 4);
    const struct pt2_weight *w = weight_named(&pt2, "l.w");
    check_weight_bytes(w, &pt2);
    assert_str_is(w->path, "m/data/weights/weight_0");
    assert_true(w->is_param && w->requires_grad && w->has_meta && !w->is_constant);
    assert_int_equal(w->dtype, DTYPE_F32);
    assert_str_is(w->device, "cuda:1");
    assert_int_equal(w->n_sizes, 2);
    assert_int_equal(w->sizes[1], 3);
    assert_int_equal(w->strides[1], 2);
    const struct pt2_weight *alias = weight_named(&pt2, "l.\xC3\xA9");
    check_weight_bytes(alias, &pt2);
    assert_int_equal(alias->offset, w->offset);
    assert_int_equal(alias->storage_offset, 2);
    assert_false(alias->is_param);
    const struct pt2_weight *c = weight_named(&pt2, "c");
    check_weight_bytes(c, &pt2);
    assert_true(c->is_constant);
    assert_int_not_equal(c->offset, w->offset);
    const struct pt2_weight *object = weight_named(&pt2, "obj");
    assert_true(object->use_pickle && !object->has_meta && !object->readable);
    assert_null(object->member);
    pt2_close(&pt2);
    make_release(&make);
}

static void test_weights_are_placed_by_either_config(void **state)
{
    (void)state;
    check_weights("m/data/weights/model_weights_config.json",
                  "m/data/constants/model_constants_config.json");
    check_weights("m/data/weights/model_model_param_config.json",
                  "m/data/constants/model_model_constants_config.json");
}

/* 24 bytes hold six floats, whatever a config says. */
static void test_weights_that_the_file_does_not_hold_are_not_readable(void **state)
{
    (void)state;
    static const struct {
        const char *meta;
        bool has_meta, readable;
    } ROWS[] = {
        { META(F32, INT("6"), INT("1"), "0"), true, true },
        { META(F32, INT("7"), INT("1"), "0"), true, false },
        { META(F32, INT("6"), INT("1"), "1"), true, false },
        { META(F32, INT("2"), INT("5"), "0"), true, true },
        { META(F32, INT("2"), INT("6"), "0"), true, false },
        { META(F32, INT("0") "," INT("9"), INT("9") "," INT("1"), "0"), true, true },
        { META(F32, INT("-1"), INT("1"), "0"), true, false },
        { META(F32, INT("2"), INT("-1"), "3"), true, false },
        { META(F32, INT("1"), INT("1"), "-1"), true, false },
        { META(F32, INT("9223372036854775807") "," INT("3"),
               INT("9223372036854775807") "," INT("1"), "0"),
          true, false },
        { META(F32, INT("3") "," INT("3"),
               INT("9223372036854775807") "," INT("9223372036854775807"), "9223372036854775807"),
          true, false },
        { META(F32, INT("6"), "", "0"), false, false },
        { META(F32, "{\"as_expr\": {}}", INT("1"), "0"), false, false },
        { META("99", INT("1"), INT("1"), "0"), false, false },
        { "{\"dtype\": 7, \"sizes\": {\"as_int\": 1, \"b\": 2}, \"strides\": 7}", false, false },
        { "null", false, false },
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct zip_make make = { 0 };
        struct pt2 pt2;
        struct buf config = BUF_INIT;
        buf_printf(&config, CONFIG(PAYLOAD("w", "weight_0", "true", "false", "%s")), ROWS[i].meta);
        add_frame(&make);
        add(&make, "m/data/weights/weight_0", BYTES24);
        add(&make, "m/data/weights/model_weights_config.json", buf_str(&config));
        open_made(&make, &pt2);
        assert_int_equal(weight_named(&pt2, "w")->has_meta, ROWS[i].has_meta);
        assert_int_equal(weight_named(&pt2, "w")->readable, ROWS[i].readable);
        pt2_close(&pt2);
        make_release(&make);
        buf_release(&config);
    }
}

static void test_deflated_and_missing_weights_are_not_readable(void **state)
{
    (void)state;
    struct zip_make make = { 0 };
    struct pt2 pt2;
    add_frame(&make);
    make_member(&make, STR("m/data/weights/weight_0"), BYTES24, true);
    add(&make, "m/data/weights/weight_1", STR("")); /* a fake tensor has no bytes */
#define SIX META(F32, INT("6"), INT("1"), "0")
    add(&make, "m/data/weights/model_weights_config.json",
        STR(CONFIG(PAYLOAD("deflated", "weight_0", "true", "false", SIX) "," PAYLOAD(
            "fake", "weight_1", "true", "false",
            SIX) "," PAYLOAD("missing", "weight_2", "true", "false",
                             SIX) "," PAYLOAD("outside", "../../models/model.json", "true", "false",
                                              SIX))));
    open_made(&make, &pt2);
    static const char *const NAMES[] = { "deflated", "fake", "missing", "outside" };
    for (size_t i = 0; i < 4; i++)
        assert_false(weight_named(&pt2, NAMES[i])->readable);
    assert_int_equal(weight_named(&pt2, "deflated")->bytes, 24);
    assert_null(weight_named(&pt2, "outside")->member);
    pt2_close(&pt2);
    make_release(&make);
}

static void test_pickled_state_dicts_are_listed(void **state)
{
    (void)state;
    struct zip_make make = { 0 };
    struct pt2 pt2;
    add_frame(&make);
    add(&make, "m/data/weights/model.pt", STR("pickle"));
    open_made(&make, &pt2);
    assert_int_equal(pt2.models[0].n_weights, 1);
    assert_true(pt2.models[0].weights[0].use_pickle);
    assert_str_is(pt2.models[0].weights[0].path, "m/data/weights/model.pt");
    pt2_close(&pt2);
    make_release(&make);
}

static void test_the_container_of_torch_2_7_is_read(void **state)
{
    (void)state;
    struct zip_make make = { 0 };
    struct pt2 pt2;
    add(&make, "serialized_exported_program.json", PROGRAM);
    add(&make, "serialized_state_dict.pt", STR("pickle"));
    add(&make, "serialized_constants.pt", STR("pickle"));
    add(&make, "serialized_example_inputs.pt", STR("pickle"));
    add(&make, "version", STR("8.7"));
    open_made(&make, &pt2);
    assert_int_equal(pt2.container, PT2_LEGACY);
    assert_str_is(pt2.root, "");
    assert_str_is(pt2.version, "8.7");
    assert_int_equal(pt2.n_models, 1);
    const struct pt2_model *model = &pt2.models[0];
    assert_str_is(model->program->name, "serialized_exported_program.json");
    assert_str_is(model->sample_inputs->name, "serialized_example_inputs.pt");
    assert_int_equal(model->n_weights, 2);
    assert_true(model->weights[0].use_pickle && !model->weights[0].is_constant);
    assert_true(model->weights[1].use_pickle && model->weights[1].is_constant);
    pt2_close(&pt2);
    make_release(&make);
}

/* ---- refusals ------------------------------------------------------------------------------ */

static void check_refused(struct zip_make *make, const char *message)
{
    struct err err = ERR_INIT;
    struct pt2 pt2;
    assert_false(pt2_open(&pt2, make_finish(make, ""), NULL, &err));
    assert_null(pt2.zip.members);
    assert_err(&err, ERR_INPUT, message);
    make_release(make);
}

static void test_other_archives_are_refused(void **state)
{
    (void)state;
    struct zip_make make = { 0 };
    check_refused(&make, "a ZIP archive, but not a .pt2");
    add(&make, "m/data.pkl", STR("pickle")); /* what torch.save writes */
    add(&make, "m/version", STR("3\n"));
    check_refused(&make, "a ZIP archive, but not a .pt2");
    add(&make, "m/archive_format", STR("pt3"));
    check_refused(&make, "member archive_format does not contain \"pt2\"");
}

static void test_broken_configs_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } ROWS[] = {
        { "{\"config\": {", "member m/data/weights/model_weights_config.json: offset 12: " },
        { "[]", "member m/data/weights/model_weights_config.json: not a payload config" },
        { "{\"config\": []}", "not a payload config" },
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct zip_make make = { 0 };
        add_frame(&make);
        add(&make, "m/data/weights/model_weights_config.json", str_of(ROWS[i].text));
        check_refused(&make, ROWS[i].message);
    }
    struct zip_make make = { 0 };
    add_frame(&make);
    add(&make, "m/data/weights/model_weights_config.json", STR("{\"config\": {}}"));
    size_t at = str_find(buf_str(&make.bytes), STR("\"config\""));
    make.bytes.p[at] = ' ';
    check_refused(&make, "checksum (CRC-32) does not match");
}

/* ---- hostile ------------------------------------------------------------------------------- */

static struct str small_archive(struct zip_make *make)
{
    add_frame(make);
    add(make, "m/data/weights/weight_0", BYTES24);
    add(make, "m/data/weights/model_weights_config.json",
        STR(CONFIG(PAYLOAD("w", "weight_0", "true", "false", SIX))));
    return make_finish(make, "");
}

static void open_copy(struct str bytes)
{
    struct err err = ERR_INIT;
    struct pt2 pt2;
    char *copy = malloc(bytes.n + (bytes.n == 0));
    assert_non_null(copy);
    memcpy(copy, bytes.p, bytes.n);
    bool ok = pt2_open(&pt2, (struct str){ copy, bytes.n }, NULL, &err);
    assert_int_equal(err.kind, ok ? ERR_NONE : ERR_INPUT);
    for (uint32_t i = 0; ok && i < pt2.n_models; i++)
        for (uint32_t k = 0; k < pt2.models[i].n_weights; k++) {
            const struct pt2_weight *w = &pt2.models[i].weights[k];
            assert_true(!w->readable || (w->offset <= bytes.n && w->bytes <= bytes.n - w->offset));
        }
    if (ok)
        pt2_close(&pt2);
    free(copy);
}

static void test_every_truncation_and_every_flip_is_survived(void **state)
{
    (void)state;
    struct zip_make make = { 0 };
    struct str bytes = small_archive(&make);
    for (size_t n = 0; n < bytes.n; n++)
        open_copy(str_first(bytes, n));
    for (size_t i = 0; i < bytes.n; i++)
        for (int mask = 1; mask < 256; mask = mask * 2 + 1) {
            make.bytes.p[i] = (char)(make.bytes.p[i] ^ mask);
            open_copy(bytes);
            make.bytes.p[i] = (char)(make.bytes.p[i] ^ mask);
        }
    make_release(&make);
}

static bool open_attempt(void *arg)
{
    const struct str *bytes = arg;
    struct err err = ERR_INIT;
    struct pt2 pt2;
    bool ok = pt2_open(&pt2, *bytes, NULL, &err);
    assert_int_equal(err.kind, ok ? ERR_NONE : ERR_ENV);
    if (ok)
        pt2_close(&pt2);
    return ok;
}

static void test_memory_may_run_out(void **state)
{
    (void)state;
    struct zip_make make = { 0 };
    struct str bytes = small_archive(&make);
    check_alloc_failures(open_attempt, &bytes);
    make_release(&make);
}

/* ---- real archives ------------------------------------------------------------------------- */

/* What a location has that its text has not. */
static void forget_callers(struct graph *graph)
{
    for (uint32_t i = 0; i < graph->n_locations; i++)
        graph->locations[i].caller = LOCATION_NONE;
    for (uint32_t i = 0; i < graph->n_children; i++)
        forget_callers(graph->children[i]);
}

static void check_printed(struct graph *graph, const char *path)
{
    struct err err = ERR_INIT;
    struct buf text = BUF_INIT;
    node_id different = NODE_NONE;
    graph_print(graph, &text);
    struct graph *again = graph_parse(buf_str(&text), &err);
    assert_no_err(&err);
    forget_callers(graph);
    if (!graph_equal(graph, again, &different))
        fail_msg("%s: node %u differs when printed and parsed", path, different);
    graph_free(again);
    buf_release(&text);
}

static uint32_t named_nodes(const struct graph *graph)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        n += graph->nodes[i].name.n > 0;
    return n;
}

static void check_program(const struct pt2 *pt2, const struct pt2_model *model, const char *path)
{
    struct err err = ERR_INIT;
    struct buf scratch = BUF_INIT;
    struct str json;
    assert_true(zip_read(&pt2->zip, model->program, &scratch, &json, &err));
    struct graph *graph = pt2_program_parse(json, &err);
    buf_release(&scratch);
    if (!graph)
        fail_msg("%s: %s", path, err.text);
    assert_int_equal(graph_counts(graph).opaque, 0);
    assert_int_equal(named_nodes(graph), graph->n_nodes);
    const struct graph_signature *s = graph->signature;
    assert_int_equal(graph_counts(graph).inputs, s->n_inputs);
    assert_int_equal(graph_counts(graph).outputs, s->n_outputs);
    assert_int_equal(s->schema_major, 8);
    for (uint32_t i = 0; i < s->n_inputs; i++) {
        assert_int_not_equal(s->inputs[i].kind, INPUT_OTHER);
        assert_str_eq(graph->nodes[i].name, s->inputs[i].name);
    }
    for (uint32_t i = 0; i < s->n_ranges; i++)
        assert_true(s->ranges[i].has_min || s->ranges[i].has_max);
    check_printed(graph, path);
    graph_free(graph);
}

static void check_weights_of(const struct pt2 *pt2, const struct pt2_model *model)
{
    struct err err = ERR_INIT;
    struct buf scratch = BUF_INIT;
    struct str bytes;
    for (uint32_t i = 0; i < model->n_weights; i++) {
        const struct pt2_weight *w = &model->weights[i];
        assert_true(w->readable);
        assert_true(zip_read(&pt2->zip, w->member, &scratch, &bytes, &err)); /* its CRC-32 too */
        assert_ptr_equal(bytes.p, pt2->zip.bytes.p + w->offset);
        assert_int_equal(bytes.n, w->bytes);
        assert_int_equal(w->offset % 64, 0); /* PyTorch's writer aligns */
    }
    buf_release(&scratch);
}

static void check_file(const char *path)
{
    struct err err = ERR_INIT;
    struct buf file = read_file(path);
    struct pt2 pt2;
    if (!pt2_open(&pt2, buf_str(&file), NULL, &err))
        fail_msg("%s: %s", path, err.text);
    assert_true(pt2.n_models > 0);
    for (uint32_t i = 0; i < pt2.n_models; i++) {
        check_program(&pt2, &pt2.models[i], path);
        check_weights_of(&pt2, &pt2.models[i]);
    }
    pt2_close(&pt2);
    buf_release(&file);
}

static void test_recorded_archives_are_read_whole(void **state)
{
    (void)state;
    const char *folder = shared_path("exports");
    if (!folder)
        skip();
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    unsigned n = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char below[300];
        if (!str_ends(str_of(entry->d_name), STR(".pt2")))
            continue;
        snprintf(below, sizeof below, "exports/%.255s", entry->d_name);
        check_file(shared_path(below));
        n++;
    }
    closedir(dir);
    assert_true(n > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_archive_lists_its_models),
        cmocka_unit_test(test_weights_are_placed_by_either_config),
        cmocka_unit_test(test_weights_that_the_file_does_not_hold_are_not_readable),
        cmocka_unit_test(test_deflated_and_missing_weights_are_not_readable),
        cmocka_unit_test(test_pickled_state_dicts_are_listed),
        cmocka_unit_test(test_the_container_of_torch_2_7_is_read),
        cmocka_unit_test(test_other_archives_are_refused),
        cmocka_unit_test(test_broken_configs_are_refused),
        cmocka_unit_test(test_every_truncation_and_every_flip_is_survived),
        cmocka_unit_test(test_memory_may_run_out),
        cmocka_unit_test(test_recorded_archives_are_read_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
