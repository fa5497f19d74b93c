/** Areas that `diagnose` checks, in the order of the findings. */
export type Area = "configuration" | "database" | "clock" | "egress" | "providers";

/** The result of one check. */
export interface Finding {
  readonly area: Area;
  /** `skipped`: the check does not apply to this configuration, or an earlier one failed. */
  readonly status: "ok" | "warning" | "problem" | "skipped";
  /** What was found, in one or more sentences without a secret. */
  readonly message: string;
  /** What to do; null if there is nothing to do. */
  readonly remedy: string | null;
  /**
   * Exit code with which Beckon fails to start because of this problem; undefined if Beckon starts
   * in spite of the problem.
   */
  readonly exitCode?: number;
}

/** Returns the finding of a check that passed. */
export function ok(area: Area, message: string): Finding {
  return { area, status: "ok", message, remedy: null };
}

/** Returns the finding of a check that was not made. */
export function skipped(area: Area, message: string): Finding {
  return { area, status: "skipped", message, remedy: null };
}

/** Returns the finding for something that works now, but probably not as intended. */
export function warning(area: Area, message: string, remedy: string): Finding {
  return { area, status: "warning", message, remedy };
}

/** Returns the finding for something that does not work. */
export function problem(
  area: Area,
  { message, remedy }: { message: string; remedy: string },
  exitCode?: number,
): Finding {
  const base = { area, status: "problem", message, remedy } as const;
  return exitCode === undefined ? base : { ...base, exitCode };
}

/**
 * Splits an error message into what happened, which is its first sentence, and what to do.
 * @param otherwise remedy if the message has only one sentence.
 */
export function splitMessage(text: string, otherwise: string): { message: string; remedy: string } {
  const [, message = text, remedy = otherwise] =
    /^(.+?\.(?: \([^)]*\))?)\s+(?=[A-Z])(.+)$/s.exec(text) ?? [];
  return { message, remedy };
}
