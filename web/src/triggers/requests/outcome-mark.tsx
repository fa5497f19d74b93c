import type { ReceivedRequest } from "@beckon/contract";
import { StatusMark } from "../../ui/index.ts";
import { outcomes } from "./outcomes.ts";

/** What became of a received request, as a shape and a word. */
export function OutcomeMark({ outcome }: Pick<ReceivedRequest, "outcome">) {
  // A newer server can know outcomes that this page does not.
  const known = Object.hasOwn(outcomes, outcome) ? outcomes[outcome] : undefined;
  return <StatusMark status={known?.shape ?? outcome} word={known?.word} />;
}
