import type { AuditEntry } from "@beckon/client";

/** The words for an action in the audit log. */
interface Wording {
  /** The name of the action in the filter: "Agent: created". */
  readonly label: string;
  /**
   * The part of the sentence after the name of the actor. `{target}` is the affected resource and
   * `{fields}` the names of the changed fields. Another name, such as `{retry_of}`, is a field of
   * the entry's data. If a noun follows, the field is a count: `{deleted:run}` becomes "3 runs".
   */
  readonly text: string | ((entry: AuditEntry) => string);
}

const isOwn = ({ actor, target }: AuditEntry) => actor === `user:${target}`;

/**
 * Wordings of all actions that this version of Beckon writes to the audit log. The log can also
 * contain actions of later versions, which have no wording here.
 */
export const wordings: Readonly<Record<string, Wording>> = {
  "agent.create": { label: "Agent: created", text: "created the agent {target}" },
  "agent.update": { label: "Agent: changed", text: "changed the {fields} of the agent {target}" },
  "agent.delete": { label: "Agent: deleted", text: "deleted the agent {target}" },
  "agent.restore": { label: "Agent: restored", text: "restored the agent {target}" },
  "agent.duplicate": {
    label: "Agent: duplicated",
    text: "duplicated the agent {agent_id} as {target}",
  },
  "agent.import": { label: "Agent: imported", text: "imported the agent {target}" },
  "agent.pause": { label: "Agent: paused", text: "paused the agent {target}" },
  "agent.resume": { label: "Agent: resumed", text: "resumed the agent {target}" },
  "agent.version.restore": {
    label: "Agent: version restored",
    text: "restored version {restored} of the agent {target}",
  },
  "agent.token.reveal": {
    label: "Agent: token revealed",
    text: "revealed the token of the agent {target}",
  },
  "agent.token.rotate": {
    label: "Agent: token rotated",
    text: "rotated the token of the agent {target}",
  },
  "agent.token.revoke": {
    label: "Agent: token revoked",
    text: "revoked the token of the agent {target}",
  },
  "trigger.create": {
    label: "Trigger: created",
    text: "created the trigger {target} of the agent {agent_id}",
  },
  "trigger.update": {
    label: "Trigger: changed",
    text: "changed the {fields} of the trigger {target}",
  },
  "trigger.delete": { label: "Trigger: deleted", text: "deleted the trigger {target}" },
  "trigger.reveal": {
    label: "Trigger: URL revealed",
    text: "revealed the URL of the trigger {target}",
  },
  "trigger.rotate": {
    label: "Trigger: URL rotated",
    text: "rotated the URL of the trigger {target}",
  },
  "trigger.set_secret": {
    label: "Trigger: secret set",
    text: "set the secret of the trigger {target}",
  },
  "trigger.reveal_secret": {
    label: "Trigger: secret revealed",
    text: "revealed the secret of the trigger {target}",
  },
  "trigger.listen": {
    label: "Trigger: listening started",
    text: "listened for a sample at the trigger {target}",
  },
  "trigger.stop_listening": {
    label: "Trigger: listening stopped",
    text: "stopped listening for a sample at the trigger {target}",
  },
  "trigger.test": {
    label: "Trigger: tested",
    text: "tested the trigger {trigger_id} in the run {target}",
  },
  "trigger.replay": {
    label: "Trigger: request replayed",
    text: "replayed a request of the trigger {trigger_id} as the run {target}",
  },
  "trigger.delete_request": {
    label: "Trigger: request deleted",
    text: "deleted a received request of the trigger {target}",
  },
  "run.start_draft": {
    label: "Run: draft started",
    text: "tried unsaved settings of the agent {agent_id} in the run {target}",
  },
  "run.retry": { label: "Run: retried", text: "retried the run {retry_of} as {target}" },
  "run.cancel": { label: "Run: cancelled", text: "cancelled the run {target}" },
  "run.delete": { label: "Run: deleted", text: "deleted the run {target}" },
  "runs.cancel": { label: "Runs: many cancelled", text: "cancelled {cancelled:run}" },
  "runs.delete": { label: "Runs: many deleted", text: "deleted {deleted:run}" },
  "provider.create": { label: "Provider: added", text: "added the provider {target}" },
  "provider.update": {
    label: "Provider: changed",
    text: "changed the {fields} of the provider {target}",
  },
  "provider.delete": { label: "Provider: deleted", text: "deleted the provider {target}" },
  "price.create": { label: "Price: set", text: "set a price of {model}" },
  "price.update": { label: "Price: changed", text: "changed the {fields} of the price of {model}" },
  "price.delete": { label: "Price: deleted", text: "deleted the price of {model}" },
  "limit.set": { label: "Ceiling: set", text: "set the ceiling of the {scope} {target}" },
  "limit.delete": {
    label: "Ceiling: deleted",
    text: "deleted the ceiling of the {scope} {target}",
  },
  "plan.create": { label: "Plan: created", text: "created the plan {name}" },
  "plan.update": { label: "Plan: changed", text: "changed the {fields} of the plan {name}" },
  "plan.delete": { label: "Plan: deleted", text: "deleted the plan {name}" },
  "workspace.plan": {
    label: "Workspace: plan set",
    text: "changed the {fields} of the workspace {target}",
  },
  "key.create": { label: "Key: created", text: "created the key {target}" },
  "key.update": { label: "Key: changed", text: "changed the {fields} of the key {target}" },
  "key.rotate": { label: "Key: rotated", text: "rotated the key {target}" },
  "key.delete": { label: "Key: deleted", text: "deleted the key {target}" },
  "subscription.create": {
    label: "Subscription: created",
    text: "created the subscription {target}",
  },
  "subscription.update": {
    label: "Subscription: changed",
    text: "changed the {fields} of the subscription {target}",
  },
  "subscription.pause": {
    label: "Subscription: paused",
    text: "paused the subscription {target}",
  },
  "subscription.resume": {
    label: "Subscription: resumed",
    text: "resumed the subscription {target}",
  },
  "subscription.disable": {
    label: "Subscription: disabled",
    text: "disabled the subscription {target}",
  },
  "subscription.delete": {
    label: "Subscription: deleted",
    text: "deleted the subscription {target}",
  },
  "subscription.reveal": {
    label: "Subscription: secret revealed",
    text: "revealed the secret of the subscription {target}",
  },
  "subscription.rotate": {
    label: "Subscription: secret rotated",
    text: "rotated the secret of the subscription {target}",
  },
  "subscription.test": {
    label: "Subscription: tested",
    text: "sent a test to the subscription {target}",
  },
  "subscription.replay": {
    label: "Subscription: deliveries replayed",
    text: "replayed deliveries of the subscription {target}",
  },
  "delivery.replay": {
    label: "Delivery: replayed",
    text: "replayed a delivery of the subscription {subscription_id}",
  },
  "member.update": { label: "Member: role changed", text: "gave {target} the role {role}" },
  "member.delete": {
    label: "Member: removed",
    text: (entry) => (isOwn(entry) ? "left the workspace" : "removed {target} from the workspace"),
  },
  "invitation.create": { label: "Invitation: made", text: "invited {email} as {role}" },
  "invitation.accept": { label: "Invitation: accepted", text: "joined the workspace as {role}" },
  "invitation.delete": { label: "Invitation: revoked", text: "revoked the invitation of {email}" },
  "password.reset_link": { label: "Password: reset link", text: "made a reset link for {target}" },
  "password.reset": { label: "Password: reset", text: "set a new password with a reset link" },
  "password.change": { label: "Password: changed", text: "changed their password" },
  "password.refuse": { label: "Password: rejected", text: "gave a wrong current password" },
  "session.create": { label: "Session: signed in", text: "signed in" },
  "session.delete": { label: "Session: signed out", text: "ended a session of their own" },
  "session.delete_others": {
    label: "Session: others signed out",
    text: "ended {ended:other session} of their own",
  },
  "session.refuse": { label: "Session: rejected", text: "rejected a sign-in of {target}" },
  "user.update": { label: "Person: changed", text: "changed the {fields} of their account" },
  "owner.create": { label: "First owner: created", text: "created the first owner, {target}" },
  "audit.prune": {
    label: "Audit log: old entries deleted",
    text: "deleted old entries of the audit log",
  },
  "workspace.create": { label: "Workspace: created", text: "created the workspace {name}" },
  "workspace.update": {
    label: "Workspace: changed",
    text: "changed the {fields} of the workspace",
  },
};
