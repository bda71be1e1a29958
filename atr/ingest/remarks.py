"""What is no mistake in a log, but likely not meant: told, and never changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date

from atr.core.display_text import ANY, UNKNOWN, cleaned
from atr.core.regions import Regions
from atr.ingest.copies import repeated
from atr.ingest.staging import texts_of
from atr.ingest.value_remarks import Values, counted_values, few, nearest, undrawn_remark, value_remarks
from atr.programme import Programme, periods
from atr.warehouse import counting
from atr.warehouse.connection import Warehouse
from atr.warehouse.layout import LAST_BIT, OUTCOME, USABLE
from atr.warehouse.shares import percent

_NOT_FEW = 0.01
"""A smaller share of missing values is not told."""
_MANY = 0.1
"""A larger share of corrections is rarely meant."""


def remarks(warehouse: Warehouse, programme: Programme, today: date | None = None) -> list[str]:
    """Tell what is no mistake, but likely not meant.

    Such are values that readers cannot tell apart, cannot see, or have no room for, or that mean no value; values that
    the programme does not name, or that occur nowhere; dates far off; cells that were cleaned; rows of one id that
    differ; and further files with values that no report can show.

    Parameters
    ----------
    warehouse
        With the log ingested. Most is told by its sums; rows are looked at for ids, numbers without a value, what is
        quarantined, and files that may repeat one another.
    programme
        What is held against it.
    today
        The day it is; by default by the clock, in the programme's time zone.

    Returns
    -------
    Sentences without a full stop. For the person at the keyboard and the reviewer: they quote values of the log.
    """
    log = programme.log
    found = [*_empty(warehouse), *_quarantined(warehouse, programme), *_corrected(warehouse)]
    if log.id is not None:
        found += _cased(warehouse)
    elif log.counts is None and not log.repeats:
        found += repeated(warehouse)
    if log.decided_at is not None:
        found += _dated(warehouse, today or periods.today(programme.period.timezone))
        found += _gaps(warehouse, programme)
    grouped = {raw: name for name, group in (log.outcomes or {}).items() for raw in group}
    counts = counted_values(warehouse, OUTCOME)
    found += value_remarks(Values("log.outcome", "log.outcomes", counts, grouped, programme.undrawn))
    for name, attribute in programme.attributes.items():
        key = f"attributes.{name}"
        if attribute.bins is not None:
            found += _without_use(programme, name, [*attribute.categories, UNKNOWN])
        else:
            counts = counted_values(warehouse, name)
            values = Values(key, f"{key}.values", counts, attribute.values or {}, programme.undrawn)
            found += _without_use(programme, name, [*sorted(values.shown_counts), UNKNOWN])
            found += value_remarks(values)
    return [*found, *_undrawn(programme), *_missing(warehouse, programme), *_cleaned(warehouse)]


def not_announced(found: Mapping[str, tuple[Regions, Regions]], programme: Programme) -> list[str]:
    """Tell which values of protected attributes nobody has of whom a report gives numbers.

    Parameters
    ----------
    found
        Of periods by label, the regions as counted, and the reported groups: numbers of people decide on these.
    programme
        Its attributes.

    Returns
    -------
    Sentences without a full stop.
    """
    told_of = []
    for name in programme.names(protected=True):
        absent: dict[str, dict[str, int]] = {}
        for label, (counted, reported) in found.items():
            place = (*counted.public, *counted.sensitive).index(name)
            told = {values[place] for values in reported.take(reported.printed).values}
            for values, people in zip(counted.values, counted.population.tolist(), strict=True):
                if told and values[place] not in told | {ANY}:
                    of_value = absent.setdefault(values[place], {})
                    of_value[label] = of_value.get(label, 0) + people
        some = []
        for value, of in absent.items():
            n, labels = sum(of.values()), few(of) if len(of) < 3 else f"{len(of)} of {len(found)} periods"
            some.append(f"{value!r} in {labels} ({n:,} {'person' if n == 1 else 'people'} there)")
        told_of += [f"attributes.{name}: no group that is announced has {few(some)}"] if some else []
    return told_of


def _empty(warehouse: Warehouse) -> Iterable[str]:
    """Files without a row."""
    names = warehouse.query("SELECT name FROM files WHERE file NOT IN (SELECT file FROM fates) ORDER BY place")
    if names:
        yield f"log.source: {few(name for (name,) in names)} {'has' if len(names) == 1 else 'have'} no rows"


def _quarantined(warehouse: Warehouse, programme: Programme) -> Iterable[str]:
    """Where the first of the rows is that nobody can use for a reason, and what such rows say."""
    if not warehouse.query("SELECT 1 FROM fates WHERE fate <> ALL ($1) LIMIT 1", [USABLE]):
        return
    found = warehouse.query(
        """
        SELECT meaning, count(*), min_by(name, (place, line)), min_by(line, (place, line))
        FROM log_rows JOIN meanings USING (fate) JOIN files USING (file) WHERE meaning <> ALL ($1)
        GROUP BY meaning ORDER BY 2 DESC, 1
        """,
        [USABLE],
    )
    for reason, rows, name, line in found:
        texts = texts_of(warehouse, programme, reason)
        said = f": {few(texts.values())}" if texts else ""
        named = {raw.casefold(): raw for group in (programme.log.outcomes or {}).values() for raw in group}
        for text in texts if reason.startswith("outcome that") else ():
            if cleaned(text).casefold() in named:
                said += f"; {text!r} differs from {named[cleaned(text).casefold()]!r} only in letter case"
        first = f"{name}, line {line}" if line else name
        yield f"log.source: quarantined, {reason}: {rows:,} {'row' if rows == 1 else 'rows'}, first {first}{said}"


def _undrawn(programme: Programme) -> Iterable[str]:
    """Characters without a font in what the programme itself says to readers."""
    texts = {"title": [programme.title]}
    for name in ("publisher", "system"):
        texts[name] = [said for said in getattr(programme, name).model_dump().values() if isinstance(said, str)]
    for name, attribute in programme.attributes.items():
        texts[f"attributes.{name}"] = [programme.title_of(name), *attribute.named, *(attribute.labels or ())]
    for key, said in texts.items():
        yield from undrawn_remark(key, said, programme.undrawn)


def _gaps(warehouse: Warehouse, programme: Programme) -> Iterable[str]:
    """Periods between others, and published ones, without decisions."""
    every = programme.period.every
    days = {day for (day,) in warehouse.query("SELECT DISTINCT day FROM days")}
    if every != "all":
        full = {periods.containing(day, every).label for day in days}
        first, last = counting.covered_span(warehouse)
        empty, period = [], periods.containing(first, every)
        while period.end is not None and period.end <= last:
            empty += [] if period.label in full else [period.label]
            period = periods.containing(period.end, every)
        if empty:
            yield f"log.decided_at: the log has no decisions in {few(empty)}, between others"
    published = warehouse.query("SELECT DISTINCT period FROM releases WHERE state = 'published' ORDER BY period")
    lost = [label for (label,) in published if not any(map(periods.parse(label).contains, days))]
    if lost:
        are = "is" if len(lost) == 1 else "are"
        yield f"log.decided_at: the log has no decisions any more in {few(lost)}, which {are} published"


def _missing(warehouse: Warehouse, programme: Programme) -> Iterable[str]:
    """Attributes that one decision in a hundred, or more, has no value of."""
    layout = warehouse.layout()
    numbers = [name for name, number in layout.attributes.items() if number]
    ((total,),) = warehouse.query("SELECT coalesce(sum(decisions), 0)::BIGINT FROM days")
    without = dict(warehouse.query("SELECT name, sum(decisions)::BIGINT FROM cells WHERE raw IS NULL GROUP BY name"))
    if numbers:
        each = (f"{layout.people} FILTER ({layout.column(name)} IS NULL)" for name in numbers)
        (counts,) = warehouse.query(f"SELECT {', '.join(each)} FROM decisions")  # noqa: S608 - positional names
        without |= dict(zip(numbers, counts, strict=True))
    for name in programme.attributes:
        if (n := without.get(name) or 0) >= _NOT_FEW * total:
            yield f"attributes.{name}: {percent(n, total)} of the decisions have no value ({n:,} of {total:,})"


def _cased(warehouse: Warehouse) -> Iterable[str]:
    """Ids that are others in small letters; only ids in nothing but small letters are held against."""
    ((ids, capital, small),) = warehouse.query(
        """
        SELECT count(DISTINCT c.id), min(c.id), min(s.id)
        FROM (SELECT id, lower(id_text) AS plain FROM decisions WHERE id_text <> lower(id_text)) AS c
        JOIN decisions AS s ON s.id_text = c.plain
        """
    )
    if ids:
        yield (
            f"log.id: {ids:,} {'id differs' if ids == 1 else 'ids differ'} from others only in letter case, as "
            f"{capital!r} and {small!r}: these are counted apart"
        )


def _corrected(warehouse: Warehouse) -> Iterable[str]:
    """How often rows of one id differ, and which of them count."""
    ((corrections, rows),) = warehouse.query(
        "SELECT coalesce(sum(rows) FILTER (fate = 'correction'), 0), coalesce(sum(rows), 0) FROM fates"
    )
    if corrections > _MANY * rows:
        yield (
            f"log.id: {corrections:,} of {rows:,} rows replaced an earlier one of the same id; is it the id of a "
            "decision?"
        )
    pairs = warehouse.query(
        """
        SELECT e.name, c.name, sum(ids)::BIGINT FROM conflicts
        JOIN files AS e ON e.file = earlier JOIN files AS c ON c.file = counts GROUP BY ALL ORDER BY 3 DESC, 1, 2
        """
    )
    which = "the highest revision" if warehouse.layout().revision is not None else "the last"
    for earlier, counts, ids in pairs[:5]:
        stand = f"{ids:,} ids stand" if ids > 1 else "1 id stands"
        if earlier == counts:
            yield f"log.id: {stand} in {counts} several times, with different values: {which} counts"
        else:
            yield f"log.id: {stand} in {earlier} and {counts} with different values: {counts} counts"
    if pairs[5:]:
        ids = sum(ids for _, _, ids in pairs[5:])
        yield f"log.id: {ids:,} ids stand in {len(pairs) - 5:,} further pairs of files with different values"


def _cleaned(warehouse: Warehouse) -> Iterable[str]:
    """In how many rows cells were cleaned, by column."""
    rows = dict(warehouse.query("SELECT bits, sum(rows)::BIGINT FROM cleaned GROUP BY bits"))
    layout = warehouse.layout()  # whose attributes may be in another order than the programme's
    optional = (name for name in ("id", "decided_at", "revision", "counts") if getattr(layout, name) is not None)
    keys = ["log.outcome", *(f"attributes.{name}" for name in layout.attributes), *(f"log.{name}" for name in optional)]
    if len(keys) > LAST_BIT + 1:
        keys[LAST_BIT:] = ["further columns"]
    for i, key in enumerate(keys):
        n = sum(rows[bits] for bits in rows if bits >> i & 1)
        if n:
            yield f"{key}: whitespace or unseen characters were removed in {n:,} {'row' if n == 1 else 'rows'}"


def _dated(warehouse: Warehouse, today: date) -> Iterable[str]:
    """Dates that are likely placeholders or mistakes."""
    far, (first, last) = counting.days_far_off(warehouse), counting.covered_span(warehouse)
    sql = "SELECT day, sum(decisions)::BIGINT FROM days WHERE day > $1 GROUP BY day ORDER BY day"
    after = {day: n for day, n in warehouse.query(sql, [today]) if day not in far}
    for days, what in (
        (far, f"far from the others ({first} to {last}): a placeholder?"),
        (after, f"after today, which is {today}"),
    ):
        n = sum(days.values())
        if n:
            dated = f"{n:,} {'decision is' if n == 1 else 'decisions are'} dated {few(map(str, days))}"
            yield f"log.decided_at: {dated}, {what}"


def _without_use(programme: Programme, attribute: str, shown: list[str]) -> list[str]:
    """What further files and group phrases say of an attribute that no report can use."""
    found = []
    hierarchy, key = programme.attributes[attribute].coarser, f"attributes.{attribute}.hierarchy"
    coarsens = programme.policy.unattainable == "coarsen"
    if hierarchy is not None:
        if not coarsens:
            found.append(f"{key}: is used only with policy.unattainable: coarsen")
        found += _strangers(key, set(hierarchy.coarser), shown)
    coarse = hierarchy.coarse if hierarchy is not None and coarsens else ()
    phrased = programme.attributes[attribute].in_phrases - {*programme.attributes[attribute].categories}
    found += _strangers(f"attributes.{attribute}.group_phrase", phrased, [*shown, *coarse])
    for file in (file for file in programme.policy.files if file.fits_log):
        table = file.read()
        named = {values[table.attributes.index(attribute)] for values in table.rows}
        found += _strangers(".".join(("policy", *file.keys)), named, [*shown, *coarse], f" in '{attribute}'")
    return found


def _strangers(key: str, named: set[str], shown: list[str], where: str = "") -> list[str]:
    """The first of the values that a file names and no report can show."""
    strangers = sorted(named - set(shown))
    if not strangers:
        return []
    like = nearest(strangers[0], shown)
    hint = "" if like is None else f"; did you mean {like!r}?"
    return [f"{key}: no report can show {strangers[0]!r}{where}{hint}"]
