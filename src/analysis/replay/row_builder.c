/* Operations of a row, within their bits. */
#include "analysis/replay/row_builder.h"

void row__push(struct builder *self, uint64_t work, uint64_t cost, uint32_t kind, uint32_t object,
               uint32_t class)
{
    struct row_op op = {work, cost, object, kind, class};
    if (self->program->op_count >= REPLAY_KEPT_OPS) {
        self->too_many = true;
        return;
    }
    vec__push(self->row, &op);
    self->program->op_count++;
}

/* What does not fit into an operation's bits goes in front of it. */
static void keep_within_bits(struct builder *self)
{
    while (self->work > ROW_WORK_MOST || self->cost > ROW_COST_MOST) {
        uint64_t work = self->work < ROW_WORK_MOST ? self->work : ROW_WORK_MOST;
        uint64_t cost = self->cost < ROW_COST_MOST ? self->cost : ROW_COST_MOST;
        row__push(self, work, cost, REPLAY_WORK, 0, ROW_NO_CLASS);
        self->work -= work;
        self->cost -= cost;
    }
}

void row__add(struct builder *self, uint32_t kind, uint32_t object, uint32_t class)
{
    keep_within_bits(self);
    row__push(self, self->work, self->cost, kind, object, class);
    self->work = self->cost = self->excused = 0;
}

void row__flush_work(struct builder *self)
{
    if (self->work || self->cost)
        row__add(self, REPLAY_WORK, 0, ROW_NO_CLASS);
}

/* Of one time, for a damaged trace must not make millions of operations of a number: a tick has 48
 * bits. */
#define TICKS_MOST (1ull << 48)

/* kind: REPLAY_DELAY, ROW_STOLEN, ROW_LATE or ROW_CALL. */
void row__add_apart(struct builder *self, uint32_t kind, uint64_t ticks, uint32_t class)
{
    row__flush_work(self);
    ticks = ticks < TICKS_MOST ? ticks : TICKS_MOST;
    for (; ticks > ROW_WORK_MOST; ticks -= ROW_WORK_MOST)
        row__push(self, ROW_WORK_MOST, 0, kind, 0, class);
    if (ticks)
        row__push(self, ticks, 0, kind, 0, class);
}
