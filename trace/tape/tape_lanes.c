#include "trace/tape/tape.h"

static const struct {
    char letter;
    bool is_stream;
} lanes[TAPE_LANES] = {
#define LANE(id, letter, is_stream, holds) [TAPE_LANE_##id] = { letter, is_stream },
#include "trace/tape/tape_lanes.def"
#undef LANE
};

char tape_lane_letter(enum tape_lane lane)
{
    return lanes[lane].letter;
}

bool tape_lane_is_stream(enum tape_lane lane)
{
    return lanes[lane].is_stream;
}

bool tape_lane_by_letter(char letter, enum tape_lane *ret)
{
    for (int id = 0; id < TAPE_LANES; id++)
        if (lanes[id].letter == letter) {
            *ret = (enum tape_lane)id;
            return true;
        }
    return false;
}
