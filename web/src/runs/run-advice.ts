import type { Run } from "@beckon/client";

type Code = NonNullable<Run["error"]>["code"];

/**
 * For each error code, what happened to the run and what a person can do. Some codes have several
 * causes: the text must be true for all of them, and the message of the run says which one it was.
 */
const advice: Readonly<Record<Code, { readonly what: string; readonly remedy: string }>> = {
  model_error: {
    what: "The run got no usable answer from the model.",
    remedy:
      "If the provider failed, check the provider's key and address, and the model's name. Then run it again.",
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
    what: "The run did not finish in time.",
    remedy:
      "Run it again. If it reached its time limit, raise the limit or give the agent less to do.",
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
    what: "The run was interrupted.",
    remedy:
      "Unless Beckon was restored from a backup, the server's log has the reason, for example a lack of memory.",
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
