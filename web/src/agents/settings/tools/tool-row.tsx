import { Clock, Globe, Pencil, Play, Trash2 } from "lucide-react";
import { Badge, Button, IconButton } from "../../../ui/index.ts";
import type { Tool } from "../fields.ts";
import { hasMissingSecret } from "./secrets.ts";

interface ToolRowProps {
  readonly tool: Tool;
  /** Why the tool cannot be changed; undefined if it can. */
  readonly disabledReason: string | undefined;
  /** Why the tool cannot be tried; undefined if it can. */
  readonly tryReason: string | undefined;
  readonly onTry: () => void;
  readonly onEdit: (() => void) | undefined;
  readonly onRemove: () => void;
}

/** A tool with its functions. */
export function ToolRow({
  tool,
  disabledReason,
  tryReason,
  onTry,
  onEdit,
  onRemove,
}: ToolRowProps) {
  const name = tool.type === "http" ? tool.name : "clock";
  const Icon = tool.type === "http" ? Globe : Clock;
  const detail =
    tool.type === "http"
      ? tool.operations.map((operation) => operation.name).join(", ")
      : "Tells the model the time.";
  return (
    <li className="flex min-h-11 min-w-0 flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1.5">
      <span className="inline-flex text-ink-3">
        <Icon aria-hidden />
      </span>
      <div className="flex min-w-0 flex-1 basis-40 flex-col">
        <span className="truncate font-mono text-dense font-semibold" title={name}>
          {name}
        </span>
        <span className="truncate text-dense text-ink-2" title={detail}>
          {detail}
        </span>
      </div>
      {hasMissingSecret(tool) ? <Badge tone="brass">Secret missing</Badge> : null}
      <div className="flex items-center gap-1">
        <Button
          size="small"
          variant="quiet"
          icon={Play}
          onClick={onTry}
          disabledReason={tryReason}
          aria-label={`Try it: ${name}`}
        >
          Try it
        </Button>
        {onEdit === undefined ? null : (
          <IconButton
            icon={Pencil}
            label={disabledReason === undefined ? `Edit ${name}` : `Show ${name}`}
            size="small"
            onClick={onEdit}
          />
        )}
        <IconButton
          icon={Trash2}
          label={`Remove ${name}`}
          size="small"
          onClick={onRemove}
          disabledReason={disabledReason}
        />
      </div>
    </li>
  );
}
