import { CopyButton } from "../action/copy-button.tsx";
import { ScrollRegion } from "../layout/scroll-region.tsx";

interface CodeBlockProps {
  readonly code: string;
  /** Name of the code, for the copy button and for screen readers: "curl command". */
  readonly label: string;
  /** `scroll` (the default) does not wrap lines, `wrap` does. */
  readonly variant?: "scroll" | "wrap";
}

/** Classes that wrap lines. Only the first lines leave space for the copy button. */
const wrapped =
  "break-words whitespace-pre-wrap before:float-right before:-mr-2 before:-mt-1 " +
  "before:ml-2 before:size-control-small before:content-['']";
const whole = "w-fit min-w-full whitespace-pre";
const besideButton = "mr-[calc(var(--spacing-control-small)+0.5rem)]";

/** Code in a monospace font with a copy button. */
export function CodeBlock({ code, label, variant = "scroll" }: CodeBlockProps) {
  return (
    <div className="relative min-h-[calc(var(--spacing-control-small)+0.625rem)] min-w-0 rounded-control border border-rule bg-well">
      {/* Lines that scroll end before the copy button, which would otherwise cover their text. */}
      <div className={`min-w-0 ${variant === "scroll" ? besideButton : ""}`}>
        <ScrollRegion label={label}>
          <pre
            className={`px-3 py-2 font-mono text-dense ${variant === "scroll" ? whole : wrapped}`}
          >
            <code>{code}</code>
          </pre>
        </ScrollRegion>
      </div>
      <span className="absolute top-1 right-1 rounded-control bg-well">
        <CopyButton text={code} what={label} />
      </span>
    </div>
  );
}
