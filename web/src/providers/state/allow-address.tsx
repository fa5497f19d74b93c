import { CodeBlock } from "../../ui/index.ts";
import type { SplitMessage } from "./advice.ts";

/**
 * Shows the command that starts Beckon with permission to call a private address. Renders nothing
 * if the message contains no command.
 */
export function AllowAddress({ command, after }: SplitMessage) {
  if (command === undefined) return null;
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <CodeBlock code={command} label="command that allows the address" variant="wrap" />
      <p className="text-label text-ink-3">
        {`Start Beckon with it, then try again ${after}`.trim()}
      </p>
    </div>
  );
}
