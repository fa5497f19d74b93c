import { Fact, Money } from "../../ui/index.ts";
import type { Cost } from "./cost.ts";

interface CostFactProps {
  readonly cost: Cost;
  readonly estimated?: boolean | undefined;
  readonly label?: string;
}

/** Shows a cost or, if the cost is unknown, why it is unknown. */
export function CostFact({ cost, estimated, label = "Cost" }: CostFactProps) {
  const { micros, reason } = cost;
  return (
    <Fact label={label}>
      <Money micros={micros} estimated={estimated} unknownReason={reason} />
      {micros !== null || reason === undefined ? null : (
        <span className="max-w-80 min-w-0 truncate text-dense text-ink-3" title={reason}>
          {`– ${reason}`}
        </span>
      )}
    </Fact>
  );
}
