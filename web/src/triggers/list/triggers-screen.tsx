import { Outlet, useNavigate, useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useAgent } from "../../agents/index.ts";
import { useList, useWorkspace } from "../../data/index.ts";
import {
  AllowedDialog,
  Button,
  LinkButton,
  lazyPart,
  Panel,
  RowsProblem,
  useChangeSearch,
} from "../../ui/index.ts";
import { triggersQuery, useTriggerId } from "../queries.ts";
import { NoTriggers } from "./no-triggers.tsx";
import { TriggerList } from "./trigger-list.tsx";
import { TriggerListSkeleton } from "./trigger-list-skeleton.tsx";
import { useLiveLastPayloads } from "./use-live-last-payloads.ts";

const NewTrigger = lazyPart(async () => (await import("../new/new-trigger.tsx")).NewTrigger);

/** The triggers of an agent: the list, and beside it the open trigger. */
export function TriggersScreen() {
  const workspace = useWorkspace();
  const agent = useAgent();
  const navigate = useNavigate();
  const changeSearch = useChangeSearch();
  const openId = useTriggerId();
  const { new: example } = useSearch({ strict: false }) as { readonly new?: string };
  const triggers = useList(triggersQuery(workspace, agent.id));
  useLiveLastPayloads(agent.id);
  const path = `/w/${workspace.id}/agents/${agent.id}/triggers`;
  // The form of a new trigger opens above the open trigger, so that cancelling leads back to it.
  const here = openId === undefined ? path : `${path}/${openId}`;
  const disabledReason = workspace.whyNot("triggers:write");
  const create = (variant: "primary" | "secondary") =>
    disabledReason === undefined ? (
      <LinkButton
        href={`${here}?new=blank`}
        icon={Plus}
        variant={variant}
        size={variant === "primary" ? "medium" : "small"}
      >
        New trigger
      </LinkButton>
    ) : (
      <Button icon={Plus} disabledReason={disabledReason}>
        New trigger
      </Button>
    );
  const dialog =
    example === undefined ? null : (
      <AllowedDialog key={example} isAllowed={disabledReason === undefined}>
        <NewTrigger
          exampleId={example}
          onClose={(created) => {
            if (created === undefined)
              changeSearch({ new: undefined }, { closes: true, keepsScroll: true });
            else void navigate({ href: `${path}/${created.id}`, replace: true });
          }}
        />
      </AllowedDialog>
    );
  const isEmpty = triggers.isSuccess && triggers.rows.length === 0 && openId === undefined;
  return (
    <>
      <title>{`Triggers of ${agent.name} · Beckon`}</title>
      {isEmpty ? (
        <NoTriggers
          agentId={agent.id}
          action={create("primary")}
          hrefOf={(id) => (disabledReason === undefined ? `${path}?new=${id}` : undefined)}
        />
      ) : (
        <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] items-start gap-6 lg:grid-cols-[18rem_minmax(0,1fr)]">
          <div className={openId === undefined ? "min-w-0" : "min-w-0 max-lg:hidden"}>
            <Panel title="Triggers" padding="none" actions={create("secondary")}>
              <RowsProblem label="Triggers" query={triggers} hasRows={triggers.rows.length > 0} />
              {triggers.isPending ? (
                <TriggerListSkeleton />
              ) : triggers.rows.length === 0 ? null : (
                <TriggerList list={triggers} path={path} openId={openId} />
              )}
            </Panel>
          </div>
          <Outlet />
        </div>
      )}
      {/* The dialog is outside of the branches above. Within them, React would mount it anew when
          the first trigger is added to the list, and the dialog would no longer show its URL. */}
      {dialog}
    </>
  );
}
