import type { Agent } from "@beckon/client";
import { Ban, RotateCw } from "lucide-react";
import { useState } from "react";
import { useWorkspace } from "../../data/index.ts";
import {
  Button,
  ConfirmDialog,
  IssuedSecretDialog,
  Panel,
  Problem,
  RotateDialog,
  SecretField,
  Time,
} from "../../ui/index.ts";
import { useToken } from "./use-token.ts";

/** The agent's API token: its state, and the actions on it. */
export function TokenPanel({ agent }: { readonly agent: Agent }) {
  const { whyNot } = useWorkspace();
  const token = useToken(agent.id);
  const [open, setOpen] = useState<"rotate" | "revoke">();
  const [issued, setIssued] = useState<string>();
  const close = () => setOpen(undefined);
  const disabledReason = whyNot("agents:write");
  const issue = async (graceSeconds: number) => {
    setIssued(await token.rotate(graceSeconds));
    close();
  };
  return (
    <Panel title="API token">
      {token.state.isIssued ? (
        <div className="flex min-w-0 flex-col gap-4">
          <SecretField
            label="Token of this agent"
            load={token.reveal}
            disabledReason={disabledReason}
          />
          {token.state.previousUntil === undefined ? null : (
            <p className="text-dense text-ink-2">
              The previous token stops <Time value={token.state.previousUntil} />.
            </p>
          )}
          <div className="flex flex-wrap gap-2">
            <Button
              icon={RotateCw}
              onClick={() => setOpen("rotate")}
              disabledReason={disabledReason}
            >
              Rotate
            </Button>
            <Button
              variant="danger"
              icon={Ban}
              onClick={() => setOpen("revoke")}
              disabledReason={disabledReason}
            >
              Revoke
            </Button>
          </div>
        </div>
      ) : (
        <div className="flex min-w-0 flex-col items-start gap-3">
          <p className="text-ink-2">
            This agent has no token, so calls with one are rejected. Workspace keys and triggers
            still work.
          </p>
          <Button
            variant="primary"
            onClick={token.issue(setIssued)}
            pending={token.isIssuing}
            pendingText="Issuing…"
            disabledReason={disabledReason}
          >
            Issue token
          </Button>
          {token.issueError === null ? null : <Problem error={token.issueError} />}
        </div>
      )}
      {open === "rotate" ? (
        <RotateDialog
          title={`Rotate the API token of ${agent.name}?`}
          effect="Beckon issues a new token. Calls with the old one are rejected from the time that you choose. A token that an earlier rotation replaced stops at once. Runs that were accepted continue."
          label="The old token stops"
          previousUntil={token.state.previousUntil}
          unknownGraceSeconds={token.unknownGraceSeconds}
          confirmLabel="Rotate token"
          onClose={close}
          onRotate={issue}
        />
      ) : null}
      <ConfirmDialog
        open={open === "revoke"}
        onOpenChange={close}
        title={`Revoke the API token of ${agent.name}?`}
        effect="Calls with it are rejected at once, also with a previous token that is still valid. Runs that were accepted continue, and workspace keys and triggers still work. You can issue a new token at any time."
        confirmLabel="Revoke token"
        pendingText="Revoking…"
        onConfirm={token.revoke}
      />
      {issued === undefined ? null : (
        <IssuedSecretDialog
          title="New API token"
          label="API token"
          secret={issued}
          onClose={() => setIssued(undefined)}
        />
      )}
    </Panel>
  );
}
