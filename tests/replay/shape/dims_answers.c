/* Reads cases of dims_cases.py and answers each as torch.export would end, then "--". */
#include "tests/replay/shape/dims_case.h"

int main(void)
{
    struct dims_case c;
    struct buf out = BUF_INIT;
    while (dims_case_read(&c, stdin)) {
        buf_clear(&out);
        dims_case_answer(&c, &out);
        printf("%.*s\n--\n", (int)out.n, out.n ? out.p : "");
        dims_case_release(&c);
    }
    buf_release(&out);
    return 0;
}
