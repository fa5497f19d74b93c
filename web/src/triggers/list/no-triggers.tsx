import type { ReactNode } from "react";
import { useWorkspace } from "../../data/index.ts";
import { CurlLine, LinkButton } from "../../ui/index.ts";
import { examples } from "../new/examples.ts";

interface NoTriggersProps {
  readonly agentId: string;
  /** The primary action. */
  readonly action: ReactNode;
  /**
   * Returns the path that opens the form with the values of an example; undefined if the person
   * lacks the permission.
   */
  readonly hrefOf: (exampleId: string) => string | undefined;
}

/** Shown while the agent has no trigger: explains what triggers are for. */
export function NoTriggers({ agentId, action, hrefOf }: NoTriggersProps) {
  const workspace = useWorkspace();
  return (
    <div className="mx-auto flex w-full max-w-160 flex-col gap-6 py-8">
      <div className="flex flex-col items-center gap-4 text-center">
        <p className="max-w-120 text-balance text-ink-2">
          A trigger is a secret URL: whatever is posted to it starts a run of this agent, with the
          payload as the input.
        </p>
        {action}
      </div>
      <ul aria-label="Examples" className="flex flex-col divide-y divide-rule border-y border-rule">
        {examples.map(({ id, icon: Icon, title, explanation }) => {
          const href = hrefOf(id);
          return (
            <li key={id} className="flex items-center gap-3 py-3">
              <Icon aria-hidden className="text-ink-3" />
              <div className="flex min-w-0 flex-1 flex-col">
                <span className="font-semibold">{title}</span>
                <span className="text-dense text-ink-2">{explanation}</span>
              </div>
              {href === undefined ? null : (
                <LinkButton href={href} size="small">
                  Use<span className="sr-only">{` the example: ${title}`}</span>
                </LinkButton>
              )}
            </li>
          );
        })}
      </ul>
      <CurlLine
        path={`/agents/${agentId}/triggers`}
        body={'{"name": "Orders"}'}
        credentialHref={`/w/${workspace.id}/keys`}
      />
    </div>
  );
}
