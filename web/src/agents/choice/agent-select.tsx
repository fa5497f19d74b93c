import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useWorkspace } from "../../data/index.ts";
import { shortenId } from "../../format/index.ts";
import { PopoverSelect } from "../../ui/index.ts";
import { agentQuery } from "../queries.ts";
import { AgentPicker } from "./agent-picker.tsx";

interface AgentSelectProps {
  /** The name of the field, the same as in its label: "Agent". */
  readonly label: string;
  /** Id of the chosen agent; empty if none is chosen. */
  readonly value: string;
  readonly onChange: (agentId: string) => void;
}

/** The control of a field for one of all agents of the workspace. */
export function AgentSelect({ label, value, onChange }: AgentSelectProps) {
  const [open, setOpen] = useState(false);
  const [picked, setPicked] = useState<{ readonly id: string; readonly name: string }>();
  const isPicked = picked?.id === value;
  // The name is read only if the form was opened with an agent.
  const { data } = useQuery({
    ...agentQuery(useWorkspace(), value),
    enabled: value !== "" && !isPicked,
  });
  const name = isPicked ? picked.name : (data?.name ?? shortenId(value));
  return (
    <PopoverSelect
      label={label}
      text={value === "" ? "" : name}
      placeholder="Choose an agent"
      open={open}
      onOpenChange={setOpen}
    >
      <AgentPicker
        value={value}
        onChoose={(agent) => {
          setPicked(agent);
          onChange(agent.id);
          setOpen(false);
        }}
      />
    </PopoverSelect>
  );
}
