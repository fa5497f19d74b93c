import type { Run } from "@beckon/client";

type Code = NonNullable<Run["error"]>["code"];

/** For each error code, what happened to the run and what a person can do. */
const advice: Readonly<Record<Code, { readonly what: string; readonly remedy: string }>> = {
  model_error: {
    what: "The model did not answer.",
    remedy: "Check the provider's key and address, and the model's name, then run it again.",
  },
  model_timeout: {
    what: "The model took too long to answer.",
    remedy: "Run it again, or choose a faster model or a longer time limit.",
  },
  tool_error: { what: "A tool failed.", remedy: "Try the tool by itself in the settings." },
  step_limit: {
    what: "The agent needed more model calls than it is allowed.",
    remedy: "Raise the limit of steps, or tell it in the instructions when to stop.",
  },
  deadline_exceeded: {
    what: "The run took longer than its time limit.",
    remedy: "Raise the time limit, or give the agent less to do.",
  },
  plan_exhausted: {
    what: "The plan of the workspace is used up.",
    remedy: "Wait until the plan resets, or ask the operator of Beckon for a larger one.",
  },
  ceiling_reached: {
    what: "A limit of cost was reached.",
    remedy: "Wait until the limit resets, or raise it.",
  },
  price_unknown: {
    what: "A limit in money applies, and the model has no known price.",
    remedy:
      "Set a price of the model, or mark its provider as free if its calls cost nothing. If the provider is the operator's, ask the operator of Beckon to set the price.",
  },
  mapping_error: {
    what: "The trigger's filter or message template failed.",
    remedy: "Correct it in the trigger's settings, then replay the request.",
  },
  interrupted: {
    what: "The server's processes ended several times during the run.",
    remedy: "Look in the server's log for the reason, for example a lack of memory.",
  },
  cancelled: { what: "The run was cancelled.", remedy: "" },
};

/**
 * Returns what happened in plain words, and what to do. Unknown codes, which later versions of
 * Beckon can send, get a general text.
 */
export function adviceFor(code: string): { readonly what: string; readonly remedy: string } {
  return Object.hasOwn(advice, code)
    ? advice[code as Code]
    : { what: "The run ended without an answer.", remedy: "" };
}
