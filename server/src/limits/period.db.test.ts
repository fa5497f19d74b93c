import fc from "fast-check";
import { expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";

/**
 * Compares the SQL function `period_of` with a model in TypeScript that uses the time zones of
 * `Intl`. Both use the IANA database, but not always the same release, so the test uses years whose
 * rules no longer change.
 */

const { engine } = (await testDatabase()).database;

interface Period {
  readonly starts: number;
  readonly ends: number;
}

/** Returns the periods that contain these moments, from the database. */
async function periodsOf(
  zone: string,
  kind: "day" | "month",
  anchor: number,
  moments: readonly number[],
): Promise<Period[]> {
  const { rows } = await engine.query<{ starts: Date; ends: Date }>(
    `select p.starts, p.ends from unnest($1::timestamptz[]) with ordinality as m (moment, number),
      period_of(m.moment, $2, $3, $4) as p order by m.number`,
    [moments.map((each) => new Date(each).toISOString()), zone, kind, anchor],
  );
  return rows.map(({ starts, ends }) => ({ starts: starts.getTime(), ends: ends.getTime() }));
}

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];

const formats = new Map<string, Intl.DateTimeFormat>();
/**
 * Returns the zone's local time at `moment`, as the Unix time in milliseconds at which UTC shows
 * the same date and time. `moment` must be a whole second, because the format has no fractions.
 */
function localTime(zone: string, moment: number): number {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-US-u-ca-gregory-nu-latn", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    formats.set(zone, format);
  }
  const of = Object.fromEntries(format.formatToParts(moment).map((p) => [p.type, Number(p.value)]));
  return Date.UTC(of.year ?? 0, (of.month ?? 1) - 1, of.day, of.hour, of.minute, of.second);
}

const known = new Map<string, number>();
function firstMoment(zone: string, local: number): number {
  const key = `${zone} ${local}`;
  const first = known.get(key) ?? searchFirstMoment(zone, local);
  known.set(key, first);
  return first;
}

/** Returns the first moment at which the zone's clock shows this local time or a later one. */
function searchFirstMoment(zone: string, local: number): number {
  const offsetAt = (moment: number) => localTime(zone, moment) - moment;
  const [from, to] = [local - 27 * hour, local + 27 * hour];
  let first = Number.POSITIVE_INFINITY;
  // While the offset from UTC is constant, local time is a moment plus this offset. So each
  // interval with a constant offset is searched on its own.
  for (let start = from; start < to; ) {
    const offset = offsetAt(start);
    let end = start;
    while (end < to && offsetAt(end + hour) === offset) end += hour;
    let before = end + hour;
    while (before - end > minute) {
      const middle = end + Math.floor((before - end) / minute / 2) * minute;
      if (offsetAt(middle) === offset) end = middle;
      else before = middle;
    }
    const at = Math.max(start, local - offset);
    if (at < before) first = Math.min(first, at);
    start = before;
  }
  return first;
}

/** Returns the period as `period_of` must compute it. */
function modelOf(zone: string, kind: "day" | "month", anchor: number, moment: number): Period {
  const local = new Date(localTime(zone, Math.floor(moment / 1_000) * 1_000));
  const [year, month] = [local.getUTCFullYear(), local.getUTCMonth()];
  const boundaries = [-2, -1, 0, 1, 2].map((away) => {
    if (kind === "day") return firstMoment(zone, Date.UTC(year, month, local.getUTCDate() + away));
    const days = new Date(Date.UTC(year, month + away + 1, 0)).getUTCDate();
    return firstMoment(zone, Date.UTC(year, month + away, Math.min(anchor, days)));
  });
  return {
    starts: Math.max(...boundaries.filter((each) => each <= moment)),
    ends: Math.min(...boundaries.filter((each) => each > moment)),
  };
}

const readable = ({ starts, ends }: Period) =>
  [starts, ends].map((each) => new Date(each).toISOString());

/**
 * Three common zones, then zones whose clock changes at or across midnight, that skipped a day, or
 * that have an unusual offset.
 */
const unusual = [
  "UTC",
  "Europe/Zurich",
  "America/New_York",
  "America/Havana",
  "America/Sao_Paulo",
  "America/Asuncion",
  "America/St_Johns",
  "America/Scoresbysund",
  "Africa/Cairo",
  "Asia/Beirut",
  "Asia/Tehran",
  "Asia/Amman",
  "Asia/Kathmandu",
  "Atlantic/Azores",
  "Australia/Lord_Howe",
  "Pacific/Apia",
  "Pacific/Chatham",
  "Pacific/Kiritimati",
];

const kinds = fc.constantFrom("day" as const, "month" as const);
const anchors = fc.integer({ min: 1, max: 31 });
const moments = fc
  .date({ min: new Date("1995-01-01"), max: new Date("2023-12-31"), noInvalidDate: true })
  .map((date) => date.getTime());

test("a period is that of the model, in every zone", async () => {
  const zones = fc.oneof(
    fc.constantFrom(...unusual),
    fc.constantFrom(...Intl.supportedValuesOf("timeZone")),
  );
  await fc.assert(
    fc.asyncProperty(zones, kinds, anchors, moments, async (zone, kind, anchor, moment) => {
      const [period] = await periodsOf(zone, kind, anchor, [moment]);
      expect(period && readable(period)).toEqual(readable(modelOf(zone, kind, anchor, moment)));
    }),
    { numRuns: 300 },
  );
});

/** Returns the moments within the range at which the zone's offset changes, to the minute. */
function changesOf(zone: string, from: number, to: number): number[] {
  const offsetAt = (moment: number) => localTime(zone, moment) - moment;
  const changes: number[] = [];
  for (let start = from; start < to; start += day) {
    if (offsetAt(start) === offsetAt(start + day)) continue;
    let [low, high] = [start, start + day];
    while (high - low > minute) {
      const middle = low + Math.floor((high - low) / minute / 2) * minute;
      if (offsetAt(middle) === offsetAt(start)) low = middle;
      else high = middle;
    }
    changes.push(high);
  }
  return changes;
}

test.each(unusual)("around each change of the clock in %s, periods adjoin", async (zone) => {
  const changes = changesOf(zone, Date.UTC(2010, 6), Date.UTC(2012, 1));
  const near = changes.flatMap((change) =>
    [-25 * hour, -hour, -minute, -1, 0, 1, minute, hour, 25 * hour].map((away) => change + away),
  );
  for (const kind of ["day", "month"] as const) {
    const periods = await periodsOf(zone, kind, 31, near);
    expect(periods.map(readable)).toEqual(
      near.map((moment) => readable(modelOf(zone, kind, 31, moment))),
    );
    const starts = periods.map((period) => period.starts);
    expect(await periodsOf(zone, kind, 31, starts)).toEqual(periods);
    const before = await periodsOf(
      zone,
      kind,
      31,
      starts.map((each) => each - 1),
    );
    expect(before.map(({ ends }) => ends)).toEqual(starts);
    const after = await periodsOf(
      zone,
      kind,
      31,
      periods.map(({ ends }) => ends),
    );
    expect(after.map((period) => period.starts)).toEqual(periods.map(({ ends }) => ends));
  }
});

/**
 * Time zones as POSIX strings: with a fixed offset, and with changes at midnight, across midnight,
 * and from after midnight back to before it.
 */
const posix = [
  "<T>-03:17:40",
  "<T>11:59:59",
  "AAA3BBB,M3.2.0/0,M11.1.0/0",
  "AAA3BBB,M3.2.0/23:30,M11.1.0/0:30",
  "AAA-5BBB-5:45,M3.2.0/23:50,M11.1.0/0:01",
  "AAA-12BBB-14,M1.2.3/23,M2.1.5/1",
];

test("periods adjoin and contain their moments, also by the rules of POSIX strings", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...posix), kinds, anchors, moments, async (zone, ...rest) => {
      const [kind, anchor, moment] = rest;
      const of = async (at: number) => (await periodsOf(zone, kind, anchor, [at]))[0];
      const period = await of(moment);
      if (period === undefined) throw new Error("period_of returned no row");
      expect(period.starts).toBeLessThanOrEqual(moment);
      expect(period.ends).toBeGreaterThan(moment);
      expect(await of(period.starts)).toEqual(period);
      expect(await of(period.ends - 1)).toEqual(period);
      expect((await of(period.ends))?.starts).toBe(period.ends);
      expect((await of(period.starts - 1))?.ends).toBe(period.starts);
    }),
    { numRuns: 300 },
  );
});

test("a day of a POSIX string begins when its clock shows midnight", async () => {
  const offset = 3 * hour + 17 * minute + 40_000;
  const midnight = Date.UTC(2026, 4, 7) - offset;
  expect(await periodsOf("<T>-03:17:40", "day", 1, [midnight - 1, midnight])).toEqual([
    { starts: midnight - day, ends: midnight },
    { starts: midnight, ends: midnight + day },
  ]);
});

test.each([
  // New York in 2026: clocks change on 8 March and 1 November.
  ["America/New_York", "2026-03-08T12:00:00Z", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"],
  ["America/New_York", "2026-11-01T12:00:00Z", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"],
  // Havana: 00:00 to 01:00 is skipped in March, and comes twice in November.
  ["America/Havana", "2015-03-08T12:00:00Z", "2015-03-08T05:00:00Z", "2015-03-09T04:00:00Z"],
  ["America/Havana", "2015-11-01T04:30:00Z", "2015-11-01T04:00:00Z", "2015-11-02T05:00:00Z"],
  // Apia had no 30 December 2011.
  ["Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z"],
  ["Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z"],
])("a day in %s at %s", async (zone, moment, starts, ends) => {
  const [period] = await periodsOf(zone, "day", 1, [Date.parse(moment)]);
  expect(period).toEqual({ starts: Date.parse(starts), ends: Date.parse(ends) });
});

test.each([
  [31, "2026-02-10", "2026-01-31", "2026-02-28"],
  [31, "2026-02-28", "2026-02-28", "2026-03-31"],
  [30, "2028-02-29", "2028-02-29", "2028-03-30"],
  [29, "2026-03-01", "2026-02-28", "2026-03-29"],
  [1, "2026-12-31", "2026-12-01", "2027-01-01"],
  [15, "2026-01-14", "2025-12-15", "2026-01-15"],
])("a month from day %i on %s", async (anchor, date, starts, ends) => {
  const [period] = await periodsOf("UTC", "month", anchor, [Date.parse(date)]);
  expect(period).toEqual({ starts: Date.parse(starts), ends: Date.parse(ends) });
});

test("the zone of the session does not matter", async () => {
  const client = await engine.connect();
  try {
    for (const zone of ["UTC", "America/New_York", "Pacific/Apia"]) {
      await client.query("select set_config('timezone', $1, false)", [zone]);
      const { rows } = await client.query<{ starts: Date; ends: Date }>(
        "select * from period_of('2026-03-08T12:00:00Z', 'America/New_York', 'day', 1)",
      );
      expect(rows).toEqual([
        { starts: new Date("2026-03-08T05:00:00Z"), ends: new Date("2026-03-09T04:00:00Z") },
      ]);
    }
  } finally {
    client.release(true);
  }
});
