import type { Member } from "@beckon/client";
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { announceIfOutdated, useIdempotencyKey, useWorkspace } from "../data/index.ts";
import { ConfirmDialog, ShownOnceDialog, Time } from "../ui/index.ts";
import { OtherAddressBanner } from "./other-address-banner.tsx";
import { membersKey } from "./queries.ts";

interface ResetLinkProps {
  readonly member: Member;
  readonly close: () => void;
}

/** Creates a link with which a member can set a new password, and shows it once. */
export function ResetLink({ member, close }: ResetLinkProps) {
  const { id: workspaceId, client } = useWorkspace();
  const queryClient = useQueryClient();
  const { keyOf } = useIdempotencyKey();
  const isMade = useRef(false);
  const [link, setLink] = useState<{ readonly url: string; readonly expiresAt: string }>();
  const make = async () => {
    const { url, expires_at: expiresAt } = await client.members.createResetLink(member.id, {
      idempotencyKey: keyOf({}),
    });
    isMade.current = true;
    setLink({ url, expiresAt });
  };
  if (link !== undefined)
    return (
      <ShownOnceDialog
        secret={link.url}
        title={`Reset link for ${member.name}`}
        label="Reset link"
        description="Beckon shows it only now. Send it to this person only: it works once and gives access to their account."
        onStored={close}
      >
        <OtherAddressBanner url={link.url} />
        <p className="text-dense text-ink-2">
          Expires <Time value={link.expiresAt} />.
        </p>
      </ShownOnceDialog>
    );
  return (
    <ConfirmDialog
      open
      // The confirmation closes after the link was created. The component must then stay open,
      // because it shows the link.
      onOpenChange={() => {
        if (!isMade.current) close();
      }}
      title={`Make a reset link for ${member.name}?`}
      effect={`The first person who uses the link within 24 hours sets a new password for ${member.email}. That ends all sessions of this account. An earlier link stops working.`}
      confirmLabel="Make link"
      pendingText="Making the link…"
      danger={false}
      isResultShownOnce
      onConfirm={make}
      onError={(thrown) => void announceIfOutdated(queryClient, thrown, membersKey(workspaceId))}
    />
  );
}
