import type { Key } from "@beckon/client";
import { Badge, type Column, menuColumn, Time } from "../ui/index.ts";
import { AgentsPopover } from "./agents-popover.tsx";
import { Creator } from "./creator.tsx";
import { ExpiryText } from "./expiry-text.tsx";
import { type KeyAct, KeyMenu } from "./key-menu.tsx";
import { ScopesPopover } from "./scopes-popover.tsx";

/** Returns the columns of the table of keys. */
export function keyColumns(onAct: (key: Key, act: KeyAct) => void): readonly Column<Key>[] {
  return [
    {
      id: "name",
      header: "Name",
      cell: (key) => (
        <span className="inline-flex max-w-full min-w-0 items-center gap-2 align-middle">
          <bdi className="truncate font-semibold" title={key.name}>
            {key.name}
          </bdi>
          {key.bootstrap ? <Badge>Bootstrap</Badge> : null}
        </span>
      ),
    },
    {
      id: "scopes",
      header: "Can do",
      width: 120,
      from: "sm",
      cell: (key) => <ScopesPopover apiKey={key} />,
    },
    {
      id: "agents",
      header: "Agents",
      width: 160,
      from: "lg",
      cell: (key) => <AgentsPopover apiKey={key} />,
    },
    {
      id: "expires",
      header: "Expires",
      width: 120,
      cell: (key) => <ExpiryText expiresAt={key.expires_at} />,
    },
    {
      id: "used",
      header: "Last used",
      width: 110,
      from: "md",
      cell: ({ last_used_at: at }) =>
        at === null ? <span className="text-ink-3">Never</span> : <Time value={at} />,
    },
    {
      id: "creator",
      header: "Created by",
      width: 160,
      from: "lg",
      cell: (key) => <Creator principal={key.created_by} />,
    },
    menuColumn((key) => <KeyMenu apiKey={key} onAct={(act) => onAct(key, act)} />),
  ];
}
