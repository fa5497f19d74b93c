import { Clock, FileUp, Globe, Plus } from "lucide-react";
import { Button, Menu } from "../../../ui/index.ts";

interface AddToolProps {
  /** True if the agent has a clock already. An agent can have only one. */
  readonly hasClock: boolean;
  /** True if the tools have an error. The button then gets the focus. */
  readonly isInvalid: boolean;
  readonly disabledReason: string | undefined;
  readonly onForm: () => void;
  readonly onImport: () => void;
  readonly onClock: () => void;
}

/** A menu with the ways to add a tool. */
export function AddTool(props: AddToolProps) {
  const { hasClock, isInvalid, disabledReason, onForm, onImport, onClock } = props;
  const button = (
    <Button
      size="small"
      icon={Plus}
      disabledReason={disabledReason}
      data-invalid={isInvalid || undefined}
    >
      Add tool
    </Button>
  );
  // Without permission, only the button is rendered: a menu would open even if its button is
  // disabled.
  if (disabledReason !== undefined) return button;
  return (
    <Menu
      label="Add a tool"
      trigger={button}
      items={[
        { label: "HTTP API…", icon: Globe, onSelect: onForm },
        { label: "Import from OpenAPI…", icon: FileUp, onSelect: onImport },
        {
          label: "Clock",
          icon: Clock,
          onSelect: onClock,
          disabledReason: hasClock ? "The agent has it." : undefined,
        },
      ]}
    />
  );
}
