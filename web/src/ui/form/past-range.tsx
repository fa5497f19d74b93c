import { type RefObject, useRef, useState } from "react";
import { fromZoned, toZoned } from "../../format/index.ts";
import { useTimeZone } from "../text/time-zone.tsx";
import { Field } from "./field.tsx";
import { RadioCards } from "./radio-cards.tsx";
import { TextInput } from "./text-input.tsx";

const hourMs = 3_600_000;
/**
 * Length of each range in ms. `all` is 30 days, because deliveries and received requests are kept
 * that long by default.
 */
const starts = { hour: hourMs, day: 24 * hourMs, all: 30 * 24 * hourMs } as const;
type Choice = keyof typeof starts | "custom";

/** A time range. Both times are RFC 3339. */
export interface PastRange {
  readonly since: string;
  readonly until: string;
}

/** The state of `PastRangeFields`. */
export interface PastRangeState {
  readonly choice: Choice;
  readonly from: string;
  readonly to: string;
  /** What the last call of `read` found wrong with one of the fields. */
  readonly problem: { readonly from?: string; readonly to?: string };
  /**
   * The `<input>` for the end of the range. `read` needs it, because `to` is empty both if nothing
   * was entered and if a part of the time is missing.
   */
  readonly end: RefObject<HTMLInputElement | null>;
  readonly set: (changed: Partial<Record<"from" | "to", string>> & { choice?: Choice }) => void;
  /**
   * Returns the range. If it is not valid, shows the problem and returns undefined.
   * @param others the values of the form's other fields. If no end is entered, the range ends at
   *   the time of the call. Further calls with unchanged fields return the same end, so that a
   *   retry has the same range.
   */
  readonly read: (...others: readonly string[]) => PastRange | undefined;
}

/**
 * Returns the state of a time range that a person chooses.
 * @param now returns the server's time as Unix time in ms. The browser's clock can be slow, and the
 *   range would then not contain the newest entries.
 * @param first the range that is chosen at first
 */
export function usePastRange(now: () => number, first: "day" | "all" = "day"): PastRangeState {
  const zone = useTimeZone();
  // Both ends are fixed: the start when the dialog opens, the end when the range is first read. So
  // a call that is repeated after a failure has the same body, and therefore the same
  // Idempotency-Key. Entries that arrive after the first call are not in the range, except for
  // about a second, because `now` can be ahead of the server's clock.
  const [openedMs] = useState(now);
  const firstRead = useRef<{ readonly values: string; readonly ms: number }>(undefined);
  const [fields, setFields] = useState(() => ({
    choice: first as Choice,
    from: toZoned(openedMs - starts.day, zone),
    to: "",
  }));
  const [problem, setProblem] = useState<PastRangeState["problem"]>({});
  const end = useRef<HTMLInputElement>(null);
  return {
    ...fields,
    problem,
    end,
    set: (changed) => setFields((before) => ({ ...before, ...changed })),
    read(...others) {
      const { choice, from, to } = fields;
      const isCustom = choice === "custom";
      const since = isCustom ? fromZoned(from, zone) : openedMs - starts[choice];
      const values = JSON.stringify([fields, others]);
      if (firstRead.current?.values !== values) firstRead.current = { values, ms: now() };
      const until =
        (isCustom && to !== "" ? fromZoned(to, zone) : undefined) ?? firstRead.current.ms;
      const isPartial = isCustom && end.current?.validity.badInput === true;
      const wrong = isPartial
        ? { to: "Complete the end, or clear it." }
        : since === undefined
          ? { from: "Choose the time from which to replay." }
          : until <= since
            ? { from: "The start must be before the end." }
            : undefined;
      setProblem(wrong ?? {});
      if (since === undefined || wrong !== undefined) return undefined;
      return { since: new Date(since).toISOString(), until: new Date(until).toISOString() };
    },
  };
}

interface PastRangeFieldsProps {
  readonly label: string;
  readonly range: PastRangeState;
}

/** The fields of a time range: one of the usual ranges, or a start and an end. */
export function PastRangeFields({ label, range }: PastRangeFieldsProps) {
  const zone = useTimeZone();
  const { choice, from, to, problem, end, set } = range;
  return (
    <>
      <RadioCards
        label={label}
        columns={2}
        density="compact"
        value={choice}
        onChange={(chosen) => set({ choice: chosen })}
        options={[
          { value: "hour", label: "Last hour" },
          { value: "day", label: "Last 24 hours" },
          { value: "all", label: "All 30 days" },
          { value: "custom", label: "A range" },
        ]}
      />
      {choice === "custom" ? (
        <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
          <Field label="From" error={problem.from} hint={`Times are in ${zone}.`}>
            <TextInput
              type="datetime-local"
              value={from}
              onChange={({ target }) => set({ from: target.value })}
            />
          </Field>
          <Field label="To" optional error={problem.to} hint="Until now if it is empty.">
            <TextInput
              ref={end}
              type="datetime-local"
              value={to}
              onChange={({ target }) => set({ to: target.value })}
            />
          </Field>
        </div>
      ) : null}
    </>
  );
}
