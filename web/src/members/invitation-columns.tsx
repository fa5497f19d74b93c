import type { Invitation } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../data/index.ts";
import { type Column, Time, UserText } from "../ui/index.ts";
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
    cell: ({ expires_at }) => <Time value={expires_at} />,
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

function Inviter({ principal }: { readonly principal: string }) {
  const { data: names } = useQuery(memberNamesQuery(useWorkspace()));
  const [kind = "", id = ""] = principal.split(":");
  if (kind === "key") return "A key";
  if (names === undefined) return null;
  return <UserText text={names.get(id) ?? "A former member"} />;
}
