import type { ReceivedRequestDetails } from "@beckon/contract";
import { Banner } from "../../ui/index.ts";
import { outcomes } from "./outcomes.ts";

/** Says why a request started no run, or why its run was held or failed. */
export function OutcomeNotice({ request }: { readonly request: ReceivedRequestDetails }) {
  const { outcome, error } = request;
  const known = Object.hasOwn(outcomes, outcome) ? outcomes[outcome] : undefined;
  if (outcome === "started" || known === undefined) return null;
  const tone =
    known.shape === "failed" ? "failure" : known.shape === "waiting" ? "warning" : "info";
  return (
    <Banner tone={tone}>
      {known.meaning}
      {error === null ? null : (
        <span dir="auto" className="block whitespace-pre-wrap">
          {error}
        </span>
      )}
    </Banner>
  );
}
