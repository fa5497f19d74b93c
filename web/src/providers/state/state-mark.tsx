import { formatCounted } from "../../format/index.ts";
import { Skeleton, StatusMark } from "../../ui/index.ts";
import type { ProviderState } from "./state.ts";

/** The state of a provider by shape, word and colour. */
export function StateMark({ state }: { readonly state: ProviderState }) {
  switch (state.name) {
    case "loading":
      return (
        <span className="w-24">
          <Skeleton />
        </span>
      );
    case "unknown":
    case "unchecked":
      return <StatusMark status="unknown" word="Not known" />;
    case "replaced":
      return <StatusMark status="cancelled" word="Partly replaced" />;
    case "works":
      return (
        <StatusMark
          status="succeeded"
          word={
            state.models.length === 0
              ? "Works"
              : `Works, ${formatCounted(state.models.length, "model")}`
          }
        />
      );
    case "fails":
      return <StatusMark status="failed" word="Does not work" />;
  }
}
