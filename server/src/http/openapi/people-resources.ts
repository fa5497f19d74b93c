import {
  acceptedInvitation,
  invitation,
  invitationCheck,
  me,
  member,
  resetCheck,
  resetLink,
  roleScopes,
  session,
  setupCheck,
  user,
  workspace,
} from "@beckon/contract";
import { id, time } from "./example-values.ts";
import type { Resource } from "./resource.ts";

const later = "2026-02-07T09:30:00.000Z";
const times = { created_at: time, updated_at: time };
const person = { id: id("usr"), name: "Ada", email: "ada@example.com" };

/** The entries of `resources` for workspaces and people. */
export const peopleResources: readonly Resource[] = [
  {
    name: "Workspace",
    schema: workspace,
    example: {
      id: id("wsp"),
      name: "Support",
      time_zone: "Europe/Zurich",
      run_retention_days: null,
      max_run_retention_days: 30,
      ...times,
    },
  },
  { name: "Member", schema: member, example: { ...person, role: "editor", ...times } },
  {
    name: "Invitation",
    schema: invitation,
    example: {
      id: id("inv"),
      email: "ada@example.com",
      role: "editor",
      created_by: `user:${id("usr")}`,
      created_at: time,
      expires_at: later,
      valid: true,
    },
  },
  {
    name: "AcceptedInvitation",
    schema: acceptedInvitation,
    example: { ...person, role: "editor", ...times, workspace_id: id("wsp") },
  },
  { name: "ResetLink", schema: resetLink, example: { expires_at: later } },
  { name: "SetupCheck", schema: setupCheck, example: { workspace_name: "default" } },
  {
    name: "InvitationCheck",
    schema: invitationCheck,
    example: {
      workspace_id: id("wsp"),
      workspace_name: "Support",
      role: "editor",
      email: "grace@example.com",
      inviter_name: "Ada",
    },
  },
  {
    name: "ResetCheck",
    schema: resetCheck,
    example: {
      name: "Grace",
      email: "grace@example.com",
      workspace_id: "wsp_01jdb8tq5ke5ktbqrs4n1h9m0z",
    },
  },
  { name: "User", schema: user, example: { ...person, ...times } },
  {
    name: "Me",
    schema: me,
    example: {
      ...person,
      ...times,
      workspaces: [
        { id: id("wsp"), name: "Support", role: "viewer", scopes: [...roleScopes.viewer] },
      ],
    },
  },
  {
    name: "Session",
    schema: session,
    example: {
      id: id("ses"),
      current: true,
      address: "203.0.113.7",
      user_agent: "Mozilla/5.0",
      created_at: time,
      last_used_at: time,
      expires_at: "2026-03-02T09:30:00.000Z",
    },
  },
];
