#include "cmd/cli/hint_list.h"

bool hint_list_read(struct hint_list *list, const char *text, struct err *err)
{
    struct str rest = str_of(text ? text : "");
    while (rest.n) {
        struct str item = str_trim(str_first(rest, str_find_char(rest, ',')));
        rest = str_from(rest, str_find_char(rest, ',') + 1);
        size_t equals = str_find_char(item, '=');
        if (list->n == HINTS_MAX)
            return err_set(err, ERR_USAGE, "--sizes takes at most %d items", HINTS_MAX);
        struct cand_hint *hint = &list->hints[list->n++];
        hint->symbol = str_trim(str_first(item, equals));
        if (!hint->symbol.n || !str_to_i64(str_trim(str_from(item, equals + 1)), &hint->hint))
            return err_set(err, ERR_USAGE, "--sizes: \"%.*s\" is not SYMBOL=NUMBER, as in s77=31",
                           STR_ARG(item));
    }
    return true;
}
