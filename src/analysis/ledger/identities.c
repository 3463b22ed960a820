/* Whether the parts of a profile add up to the whole. */
#include "analysis/ledger/profile.h"

struct profile_sides profile_class__sides(const struct profile_class *class)
{
    struct profile_sides sides = {
        .excess = accumulator__excess(class->accumulator, class->accumulator->minimum)};
    for (int c = 0; c < COMPONENTS; c++)
        sides.components +=
            (uint64_t)accumulator__component_excess(class->accumulator, (enum component)c);
    return sides;
}

/* Sums over all classes. Unsigned: what a damaged trace makes of them may overflow. */
struct identity_sums {
    uint64_t components, threads, excess_ns, reasons_ns;
};

static struct identity_sums sums_of(const struct profile *profile)
{
    struct identity_sums sums = {0};
    VEC_EACH (class, &profile->classes, struct profile_class) {
        sums.components += profile_class__sides(class).components;
        sums.threads += class->thread_excess;
        sums.excess_ns += class->excess_ns;
        for (int c = 0; c < REASONS; c++)
            sums.reasons_ns += (uint64_t) class->why_ns[c];
    }
    return sums;
}

void profile__identities(const struct profile *profile,
                         struct profile_identity identities[PROFILE_IDENTITIES])
{
    const struct profile_audit *audit = &profile->audit;
    const struct identity_sums sums = sums_of(profile);
#define OF_CLASSES(name, what, unit, left, right, wrong)                 \
    {                                                                    \
        name, "lost", what, unit, left, right, wrong, .of_classes = true \
    }
    const struct profile_identity all[PROFILE_IDENTITIES] = {
        OF_CLASSES("components", "sum of its components", "ticks", audit->excess, sums.components,
                   audit->wrong_components),
        OF_CLASSES("reasons", "sum of its reasons", "ns", sums.excess_ns, sums.reasons_ns,
                   audit->wrong_reasons),
        OF_CLASSES("threads", "sum of what its threads lost", "ticks", audit->excess, sums.threads,
                   audit->wrong_threads),
        {"exclusive", "time covered", "sum of exclusive times", "ticks", audit->covered,
         audit->own_sum, .is_estimate = audit->sampled_classes > 0},
        {"exclusive_excess", "sum of exclusive times, less the least possible",
         "sum of the exclusive excesses", "ticks", audit->own_sum - audit->own_least,
         audit->own_excess},
    };
    for (int i = 0; i < PROFILE_IDENTITIES; i++) {
        identities[i] = all[i];
        identities[i].is_exact = all[i].left == all[i].right && all[i].wrong == 0;
    }
}

bool profile__adds_up(const struct profile *profile)
{
    struct profile_identity identities[PROFILE_IDENTITIES];
    profile__identities(profile, identities);
    for (int i = 0; i < PROFILE_IDENTITIES; i++)
        if (!identities[i].is_estimate && !identities[i].is_exact)
            return false;
    return true;
}

/* ---- as tables ------------------------------------------------------------------------------- */

static const struct column identity_columns[] = {
    COLUMN_KEYED("check", profile_identity, name, NULL, "", "what is added up"),
    COLUMN(profile_identity, unit, NULL, "", "of both sides"),
    COLUMN(profile_identity, left, NULL, "", "the whole"),
    COLUMN(profile_identity, right, NULL, "", "the sum of its parts"),
    COLUMN_KEYED("wrong_classes", profile_identity, wrong, NULL, "",
                 "classes of which it does not hold"),
    COLUMN_KEYED("exact", profile_identity, is_exact, NULL, "", "whether it holds"),
    COLUMN_KEYED("estimate", profile_identity, is_estimate, NULL, "",
                 "whether it need not hold: of sampled occurrences"),
};
static const struct table identities_table =
    TABLE(profile_identity, "identities", "a row a sum that must hold", identity_columns);

struct table_rows profile__identity_rows(const struct profile *profile)
{
    struct table_rows rows = table_rows__of(&identities_table);
    struct profile_identity identities[PROFILE_IDENTITIES];
    profile__identities(profile, identities);
    for (int i = 0; i < PROFILE_IDENTITIES; i++)
        vec__push(&rows.rows, &identities[i]);
    return rows;
}

struct audit_row {
    struct profile_audit of;
    bool holds;
};

static const struct table audit_table =
    OBJECT(audit_row, FIELD("holds", audit_row, holds), FIELD("classes", audit_row, of.classes),
           FIELD("excess_ticks", audit_row, of.excess),
           FIELDS_OF(audit_row, of, wrong_components, wrong_reasons, wrong_threads),
           FIELD("covered_ticks", audit_row, of.covered),
           FIELD("exclusive_sum_ticks", audit_row, of.own_sum),
           FIELD("exclusive_least_ticks", audit_row, of.own_least),
           FIELD("exclusive_excess_ticks", audit_row, of.own_excess),
           FIELD("sampled_classes", audit_row, of.sampled_classes));

struct table_rows profile__audit_row(const struct profile *profile)
{
    struct table_rows rows = table_rows__of(&audit_table);
    TABLE_ROW(&rows, audit_row, profile->audit, profile__adds_up(profile));
    return rows;
}
