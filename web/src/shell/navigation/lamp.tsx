import { LampShape } from "./lamp-shape.tsx";
import { useLiveText } from "./live-text.ts";
import { entryLook, labelLook } from "./look.ts";

/**
 * Shows the status of live updates. If they are not live, a click reconnects. Below a width of 1100
 * px, only the shape is visible.
 */
export function Lamp({ hasLabel = false }: { readonly hasLabel?: boolean }) {
  const { state, text, detail, reason, retry } = useLiveText();
  const content = (
    <>
      <LampShape state={state} />
      <span className={labelLook(hasLabel)}>
        <span className="block truncate">{text}</span>
        {detail === "" ? null : <span className="block truncate text-label">{detail}</span>}
      </span>
    </>
  );
  return (
    <div role="status" title={reason ?? `${text} ${detail}`.trim()}>
      {state === "not live" ? (
        <button type="button" onClick={retry} className={entryLook}>
          {content}
        </button>
      ) : (
        <div className="flex min-h-control items-center gap-2 px-3 text-ink-2 lg:px-2">
          {content}
        </div>
      )}
    </div>
  );
}
