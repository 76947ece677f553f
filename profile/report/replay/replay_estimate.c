#include "profile/report/replay/replay_estimate.h"

#include "profile/model/cost_model/cost_model.h"

void replay_estimate_text(int release, struct buf *out)
{
    const struct cost_error error = cost_error_shipped(release);
    buf_printf(out,
               "PyTorch's time: in dispatches, estimated, as the tape is no deep recording: counts "
               "times what a dispatch handled in this way cost with PyTorch %d.%d, on another "
               "machine",
               release / 100, release % 100);
    if (error.recordings)
        buf_printf(
            out,
            "; with these costs, symtape profile --cost-model was %.0f %% off in the median of %u "
            "recordings",
            error.share * 100, (unsigned)error.recordings);
    buf_putc(out, '\n');
}
