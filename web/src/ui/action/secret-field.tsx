import { Eye, EyeOff } from "lucide-react";
import { useLayoutEffect, useRef, useState } from "react";
import { Problem } from "../feedback/problem.tsx";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy-button.tsx";

interface SecretFieldProps {
  readonly label: string;
  /**
   * The first part of the value if it is not secret, for example a URL up to its token. It is shown
   * before the dots. Undefined: all of the value is secret.
   */
  readonly start?: string | undefined;
  /** Reads the secret from the server. Called for each reveal. */
  readonly load: () => Promise<string>;
  /** Shown below the secret. Default: "Revealing is recorded in the audit log." */
  readonly hint?: string;
  /** Why this person cannot reveal the secret; undefined if they can. */
  readonly disabledReason?: string | undefined;
}

/** Seconds until a revealed secret is hidden again. */
const shownSeconds = 60;

/**
 * A stored secret, shown as dots. The button Reveal loads and shows it. It is hidden again after 60
 * seconds, and when the field or the window loses the focus.
 */
export function SecretField({
  label,
  start,
  load,
  hint = "Revealing is recorded in the audit log.",
  disabledReason,
}: SecretFieldProps) {
  const [secret, setSecret] = useState<string>();
  const [pending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const box = useRef<HTMLDivElement>(null);
  /** Whether the field or the window has lost the focus since Reveal was pressed. */
  const isLeft = useRef(false);

  // A layout effect listens before the secret is painted. With `useEffect`, the window could lose
  // the focus after the paint and before the listener is added, and the secret would stay visible.
  useLayoutEffect(() => {
    if (secret === undefined) return;
    const hide = () => setSecret(undefined);
    const timer = setTimeout(hide, shownSeconds * 1000);
    window.addEventListener("blur", hide);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("blur", hide);
    };
  }, [secret]);

  const leave = (target: EventTarget | null) => {
    if (target instanceof Node && box.current?.contains(target)) return;
    isLeft.current = true;
    setSecret(undefined);
  };
  const reveal = async () => {
    setPending(true);
    setError(undefined);
    isLeft.current = false;
    const onBlur = () => leave(null);
    // In Safari, a press on Reveal does not focus the button, so the field gets no blur event when
    // the person leaves it. Here, the focus of an element outside of the field counts as leaving.
    const onFocus = ({ target }: FocusEvent) => leave(target);
    window.addEventListener("blur", onBlur);
    document.addEventListener("focusin", onFocus);
    try {
      const loaded = await load();
      if (!isLeft.current) setSecret(loaded);
    } catch (thrown) {
      setError(thrown);
    } finally {
      window.removeEventListener("blur", onBlur);
      document.removeEventListener("focusin", onFocus);
      setPending(false);
    }
  };

  return (
    // biome-ignore lint/a11y/useSemanticElements: the legend of a fieldset cannot be laid out
    <div
      ref={box}
      role="group"
      aria-label={label}
      onBlur={(event) => leave(event.relatedTarget)}
      className="flex min-w-0 flex-col gap-1"
    >
      <span className="text-label font-semibold text-ink-2">{label}</span>
      <div className="flex items-start gap-2">
        <div className="flex min-h-control min-w-0 flex-1 items-center gap-1 rounded-control border border-rule bg-well py-px pl-2 pr-px">
          <span className="min-w-0 flex-1 break-all py-1 font-mono text-dense">
            {secret ?? (
              <>
                {start}
                <span aria-hidden="true" className="text-ink-3">
                  ••••••••••••••••
                </span>
                <span className="sr-only">Hidden</span>
              </>
            )}
          </span>
          {secret === undefined ? null : <CopyButton text={secret} what={label} />}
        </div>
        {secret === undefined ? (
          <Button
            icon={Eye}
            onClick={reveal}
            pending={pending}
            pendingText="Loading…"
            disabledReason={disabledReason}
          >
            Reveal
          </Button>
        ) : (
          // Reveal, which had the focus, has disappeared. This button gets the focus, so that the
          // secret is hidden when the focus leaves the field.
          <Button icon={EyeOff} onClick={() => setSecret(undefined)} autoFocus>
            Hide
          </Button>
        )}
      </div>
      {error === undefined ? (
        <p className="text-label text-ink-3">{hint}</p>
      ) : (
        <Problem error={error} onRetry={reveal} />
      )}
    </div>
  );
}
