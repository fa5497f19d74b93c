import type { Invitation } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../data/index.ts";
import { Badge, type Column, Time, UserText, useNow } from "../ui/index.ts";
import { memberNamesQuery } from "./queries.ts";
import { RevokeInvitation } from "./revoke-invitation.tsx";
import { roleLabel } from "./roles.ts";

/** Columns of the table of open invitations. */
export const invitationColumns: readonly Column<Invitation>[] = [
  {
    id: "email",
    header: "E-mail",
    cell: ({ email }) => (
      <span className="font-semibold" title={email}>
        {email}
      </span>
    ),
  },
  {
    id: "role",
    header: "Role",
    cell: ({ role }) => roleLabel(role),
    width: 96,
    from: "sm",
  },
  {
    id: "by",
    header: "Invited by",
    cell: ({ created_by }) => <Inviter principal={created_by} />,
    width: 200,
    from: "md",
  },
  {
    id: "expires",
    header: "Expires",
    cell: (invitation) => <Expiry invitation={invitation} />,
    align: "end",
    width: 116,
  },
  {
    id: "revoke",
    header: "Revoke",
    headerHidden: true,
    isControl: true,
    cell: (invitation) => <RevokeInvitation invitation={invitation} />,
    align: "end",
    width: 92,
  },
];

/**
 * Returns whether the link does not work although it has not expired: its issuer can no longer
 * invite.
 */
export function lacksIssuer({ valid, expires_at }: Invitation, nowMs: number): boolean {
  return !valid && Date.parse(expires_at) > nowMs;
}

function Expiry({ invitation }: { readonly invitation: Invitation }) {
  if (!lacksIssuer(invitation, useNow())) return <Time value={invitation.expires_at} />;
  return (
    <span className="inline-flex align-middle">
      <Badge tone="flare">Not valid</Badge>
    </span>
  );
}

function Inviter({ principal }: { readonly principal: string }) {
  const { data: names } = useQuery(memberNamesQuery(useWorkspace()));
  const [kind = "", id = ""] = principal.split(":");
  if (kind === "key") return "A key";
  if (names === undefined) return null;
  return <UserText text={names.get(id) ?? "A former member"} />;
}
