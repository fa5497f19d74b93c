import type { Run } from "@beckon/client";
import { Fragment } from "react";
import { useWorkspace } from "../data/index.ts";
import { Link, Problem, Time } from "../ui/index.ts";
import { limitWords, placeOfLimit } from "./limit-words.ts";
import { adviceFor } from "./run-advice.ts";

type LimitReached = NonNullable<Run["limit"]>;

interface RunProblemProps {
  readonly error: { readonly code: string; readonly message: string };
  /** The limit that stopped the run, and the agent of the run; undefined if no limit stopped it. */
  readonly reached?: { readonly limit: LimitReached; readonly agentId: string } | undefined;
  /** Path of the page with the agent's settings; undefined to show no link to it. */
  readonly settingsHref?: string;
  /**
   * True if screen readers must not announce the problem, for example because the page already
   * does.
   */
  readonly isState?: boolean;
}

/** Explains why a run has no output: in plain words, in the server's words, and what to do. */
export function RunProblem({ error, reached, settingsHref, isState = false }: RunProblemProps) {
  const { id } = useWorkspace();
  const { code, message } = error;
  if (code === "cancelled")
    return (
      <p dir="auto" className="break-words text-ink-2">
        {message}
      </p>
    );
  const { what, remedy } = adviceFor(code);
  const place = places[code];
  const isOfSettings = reached === undefined && (place === undefined || place.isAlsoOfSettings);
  const settings = isOfSettings ? settingsHref : undefined;
  return (
    <Problem title={what} error={message} code={code} isState={isState}>
      {reached === undefined ? null : <ReachedLimit limit={reached.limit} />}
      {remedy === "" ? null : (
        <p className="max-w-160">
          {remedy}{" "}
          {reached !== undefined ? (
            <LimitLink {...reached} />
          ) : (
            place?.links.map(({ path, label }, index) => (
              <Fragment key={path}>
                {index === 0 ? null : " · "}
                <Link href={`/w/${id}${path}`}>{label}</Link>
              </Fragment>
            ))
          )}
          {settings === undefined ? null : (
            <>
              {place === undefined ? null : " · "}
              <Link href={settings}>Open the agent's settings</Link>
            </>
          )}
        </p>
      )}
    </Problem>
  );
}

interface Place {
  readonly links: readonly { readonly path: string; readonly label: string }[];
  /** Whether the agent's settings can be the cause too. */
  readonly isAlsoOfSettings?: true;
}

const providers = { path: "/providers", label: "Open the providers" };

/**
 * For each error code whose cause can be outside of the agent's settings: the screens on which
 * a person can remove the cause.
 */
const places: Readonly<Record<string, Place | undefined>> = {
  model_error: { links: [providers], isAlsoOfSettings: true },
  plan_exhausted: { links: [{ path: "/plan", label: "Open the plan" }] },
  ceiling_reached: { links: [{ path: "/plan", label: "Open the ceilings" }] },
  price_unknown: { links: [{ path: "/prices", label: "Open the prices" }, providers] },
};

function ReachedLimit({ limit }: { readonly limit: LimitReached }) {
  return (
    <p>
      {limitWords(limit)}
      {limit.resets_at === null || limit.needed !== undefined ? null : (
        <>
          , resets <Time value={limit.resets_at} />
        </>
      )}
      .
    </p>
  );
}

interface LimitLinkProps {
  readonly limit: LimitReached;
  readonly agentId: string;
}

/** A link to the screen where the limit can be raised, or why the person cannot raise it. */
function LimitLink({ limit, agentId }: LimitLinkProps) {
  const { id, whyNot } = useWorkspace();
  const { path, label, needs } = placeOfLimit(limit, agentId);
  const reason = needs === undefined ? undefined : whyNot(needs);
  return reason ?? <Link href={`/w/${id}${path}`}>{label}</Link>;
}
