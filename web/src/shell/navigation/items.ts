import type { Scope } from "@beckon/contract";
import { useRouter } from "@tanstack/react-router";
import {
  Activity,
  Bot,
  ChartColumn,
  CreditCard,
  DollarSign,
  Gauge,
  KeyRound,
  type LucideIcon,
  Plug,
  ScrollText,
  Settings,
  Users,
  Webhook,
} from "lucide-react";
import { useWorkspace } from "../../data/index.ts";

/** An entry of the navigation. */
export interface NavigationItem {
  readonly label: string;
  /** Path below `/w/:workspace_id`. */
  readonly path: string;
  readonly icon: LucideIcon;
  /** Permission to read what the screen shows. */
  readonly scope: Scope;
  readonly group: "work" | "connect" | "govern";
  /** Pressed after `g`, this key opens the screen. */
  readonly key: string;
}

const items: readonly NavigationItem[] = [
  { label: "Overview", path: "", icon: Gauge, scope: "runs:read", group: "work", key: "o" },
  { label: "Runs", path: "/runs", icon: Activity, scope: "runs:read", group: "work", key: "r" },
  { label: "Agents", path: "/agents", icon: Bot, scope: "agents:read", group: "work", key: "a" },
  {
    label: "Providers",
    path: "/providers",
    icon: Plug,
    scope: "providers:read",
    group: "connect",
    key: "p",
  },
  { label: "Keys", path: "/keys", icon: KeyRound, scope: "keys:read", group: "connect", key: "k" },
  {
    label: "Subscriptions",
    path: "/subscriptions",
    icon: Webhook,
    scope: "subscriptions:read",
    group: "connect",
    key: "b",
  },
  {
    label: "Usage",
    path: "/usage",
    icon: ChartColumn,
    scope: "usage:read",
    group: "govern",
    key: "u",
  },
  {
    label: "Plan",
    path: "/plan",
    icon: CreditCard,
    scope: "usage:read",
    group: "govern",
    key: "n",
  },
  {
    label: "Prices",
    path: "/prices",
    icon: DollarSign,
    scope: "providers:read",
    group: "govern",
    key: "c",
  },
  {
    label: "Members",
    path: "/members",
    icon: Users,
    scope: "members:read",
    group: "govern",
    key: "m",
  },
  {
    label: "Audit",
    path: "/audit",
    icon: ScrollText,
    scope: "audit:read",
    group: "govern",
    key: "l",
  },
  {
    label: "Settings",
    path: "/settings",
    icon: Settings,
    scope: "workspaces:read",
    group: "govern",
    key: "s",
  },
];

/** Titles of the groups. The first group is shown without a title. */
export const groupTitles = { work: undefined, connect: "Connect", govern: "Govern" } as const;

/** An entry with its full path. */
export type NavigationEntry = NavigationItem & { readonly href: string };

/**
 * Returns the main screens, which every role can read. They are shown while the person's role is
 * not known.
 */
export function entriesFor(id: string): readonly NavigationEntry[] {
  return items
    .filter(({ group }) => group === "work")
    .map((item) => ({ ...item, href: `/w/${id}${item.path}` }));
}

/**
 * Returns the entries that have a route and that the person has permission to read, with their full
 * paths.
 */
export function useNavigation(): readonly NavigationEntry[] {
  const { id, can } = useWorkspace();
  const { routesById } = useRouter();
  return items
    .filter(({ path, scope }) => can(scope) && `/w/$workspaceId${path || "/"}` in routesById)
    .map((item) => ({ ...item, href: `/w/${id}${item.path}` }));
}
