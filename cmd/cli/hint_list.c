#include "cmd/cli/hint_list.h"

bool hint_list_read(struct hint_list *list, const struct opt_sizes *sizes,
                    struct source_meter *meter, struct err *err)
{
    if (!size_grid_read_option(&list->grid, "--sizes", sizes, meter, err))
        return false;
    if (list->grid.n != 1)
        return err_set(err, ERR_USAGE, "--sizes: %zu sizes are given, and one can be used",
                       list->grid.n);
    for (; list->n < list->grid.n_symbols; list->n++)
        list->hints[list->n] = (struct cand_hint){ list->grid.symbols[list->n],
                                                   size_grid_row(&list->grid, 0)[list->n] };
    return true;
}

void hint_list_release(struct hint_list *list)
{
    size_grid_release(&list->grid);
}
