import type { LiveStatus } from "../../live/index.ts";

const colours: Readonly<Record<LiveStatus["state"], string>> = {
  connecting: "text-ink-3",
  live: "text-tide",
  reconnecting: "text-brass",
  "not live": "text-flare",
};

/**
 * The shape for the status of live updates: filled while live, a dashed ring while connecting, a
 * ring with a bar if not live.
 */
export function LampShape({ state }: { readonly state: LiveStatus["state"] }) {
  const isLive = state === "live";
  const isTrying = state === "connecting" || state === "reconnecting";
  return (
    <svg
      aria-hidden
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      className={`size-4 flex-none ${colours[state]}`}
    >
      {isLive ? <circle cx="8" cy="8" r="4" fill="currentColor" stroke="none" /> : null}
      <circle
        cx="8"
        cy="8"
        r="6.25"
        strokeDasharray={isTrying ? "3 2" : undefined}
        opacity={isLive ? 0.4 : 1}
      />
      {state === "not live" ? <path d="m4 12 8-8" /> : null}
    </svg>
  );
}
