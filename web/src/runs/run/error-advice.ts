/** What to do about a run that ended without output, by the code of its error. */
const advice: Readonly<Record<string, string>> = {
  model_error:
    "Check the provider and the model of the agent, then retry. If the provider was down, retrying is enough.",
  model_timeout: "Retry, or give the agent a faster model or a longer time limit.",
  step_limit: "Raise the agent's step limit, or make its instructions end sooner, then retry.",
  deadline_exceeded: "Raise the agent's time limit, or give it less to do, then retry.",
  interrupted:
    "Look in the server's log for what ended its processes, for example a lack of memory, then retry.",
  plan_exhausted: "Raise the plan, then retry.",
  ceiling_reached: "Raise the ceiling, then retry.",
};

/** Returns one sentence on what to do; undefined if there is nothing to do. */
export function adviceFor(code: string): string | undefined {
  return Object.hasOwn(advice, code) ? advice[code] : undefined;
}
