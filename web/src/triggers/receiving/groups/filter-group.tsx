import { useReceivingForm, useText } from "../form-context.ts";
import { Group } from "../group.tsx";
import { LineArea } from "../line-area.tsx";
import type { Mistakes } from "../use-preview.ts";

interface FilterGroupProps {
  readonly summary: string;
  readonly mistakes: Mistakes;
}

/** Which requests start a run. */
export function FilterGroup({ summary, mistakes }: FilterGroupProps) {
  const { errorAt, warningAt } = useReceivingForm();
  const { autoComplete: _, spellCheck: __, ...filter } = useText("filter");
  const error = errorAt("filter");
  const warning = warningAt("filter");
  return (
    <Group
      title="Filter"
      summary={summary}
      paths={["filter"]}
      startsOpen={filter.value !== ""}
      hasWarning={warning !== undefined}
    >
      <LineArea
        {...filter}
        label="Only requests for which this is true"
        optional
        rows={2}
        placeholder={'event.type == "issues" && payload.action == "opened"'}
        hint="In CEL, with the same variables as the template. Other requests are stored and start no run."
        mistake={error === undefined ? mistakes.filter : { message: error, line: null }}
        warning={warning}
      />
    </Group>
  );
}
