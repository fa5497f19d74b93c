import type { Member } from "@beckon/client";
import { Badge, type Column, menuColumn, Time } from "../ui/index.ts";
import { MemberActions } from "./member-actions.tsx";
import { roleLabel } from "./roles.ts";

/**
 * Columns of the table of members.
 * @param ownId id of the signed-in person
 */
export function memberColumns(ownId: string): readonly Column<Member>[] {
  return [
    {
      id: "name",
      header: "Name",
      cell: ({ id, name, email }) => (
        <span className="flex min-w-0 items-center gap-2" title={`${name}\n${email}`}>
          <span dir="auto" className="truncate font-semibold">
            {name}
          </span>
          {id === ownId ? <Badge>You</Badge> : null}
        </span>
      ),
    },
    {
      id: "email",
      header: "E-mail",
      cell: ({ email }) => (
        <span className="text-ink-2" title={email}>
          {email}
        </span>
      ),
      from: "sm",
    },
    {
      id: "role",
      header: "Role",
      cell: ({ role }) => roleLabel(role),
      width: 96,
    },
    {
      id: "since",
      header: "Since",
      cell: ({ created_at }) => <Time value={created_at} />,
      align: "end",
      width: 120,
      from: "md",
    },
    menuColumn((member) => <MemberActions member={member} />),
  ];
}
