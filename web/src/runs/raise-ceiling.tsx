import { useWorkspace } from "../data/index.ts";
import { Button, LinkButton } from "../ui/index.ts";

interface RaiseCeilingProps {
  /** The scope and the id of the ceiling, as in `agent:agt_…`. */
  readonly ceiling: string;
}

/**
 * A button that opens the form of a ceiling. For people who are not allowed to change ceilings, the
 * button is disabled and says which role they need.
 */
export function RaiseCeiling({ ceiling }: RaiseCeilingProps) {
  const { id, whyNot } = useWorkspace();
  const disabledReason = whyNot("limits:write");
  const label = "Raise the ceiling";
  return disabledReason === undefined ? (
    <LinkButton size="small" href={`/w/${id}/plan?ceiling=${ceiling}`}>
      {label}
    </LinkButton>
  ) : (
    <Button size="small" disabledReason={disabledReason}>
      {label}
    </Button>
  );
}
