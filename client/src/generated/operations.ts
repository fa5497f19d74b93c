/** What can be called. Long because it is generated: `node script/client.ts` makes it of docs/openapi.json. */

import type { Listing } from "../listing.ts";
import type { CallOptions, OnceOptions } from "../options.ts";
import type { Sender } from "../sender.ts";
import type {
  AcceptedInvitation,
  AcceptInvitationBody,
  Agent,
  AgentVersion,
  AgentVersionEntry,
  AuditEntry,
  CancelRunsAnswer,
  CancelRunsBody,
  ChangePasswordBody,
  CompareAgentVersionsQuery,
  CreateAgentAnswer,
  CreateAgentBody,
  CreateInvitationAnswer,
  CreateInvitationBody,
  CreateKeyAnswer,
  CreateKeyBody,
  CreateProviderBody,
  CreateResetLinkAnswer,
  CreateTriggerAnswer,
  CreateTriggerBody,
  CreateWorkspaceAnswer,
  CreateWorkspaceBody,
  DeleteRunsAnswer,
  DeleteRunsBody,
  DuplicateAgentAnswer,
  DuplicateAgentBody,
  ExportAuditQuery,
  ExportedAgents,
  FireTriggerAnswer,
  FireTriggerBody,
  ImportAgentsBody,
  ImportedAgents,
  ImportHttpToolAnswer,
  ImportHttpToolBody,
  Invitation,
  InvokeAgentAnswer,
  InvokeAgentBody,
  Key,
  ListAgentRunsQuery,
  ListAgentsQuery,
  ListAgentVersionsQuery,
  ListAuditQuery,
  ListEventsAnswer,
  ListEventsQuery,
  ListInvitationsQuery,
  ListKeysQuery,
  ListMembersQuery,
  ListModelsQuery,
  ListProvidersQuery,
  ListRunEventsQuery,
  ListRunsQuery,
  ListSessionsQuery,
  ListTriggersQuery,
  ListWorkspacesQuery,
  Me,
  Member,
  ModelList,
  PauseAgentBody,
  Provider,
  ProviderCheck,
  ResetPasswordBody,
  RetryRunBody,
  RevealAgentTokenAnswer,
  RevealTriggerAnswer,
  RotateAgentTokenAnswer,
  RotateAgentTokenBody,
  RotateKeyAnswer,
  RotateKeyBody,
  RotateTriggerAnswer,
  RotateTriggerBody,
  Run,
  RunEvent,
  Session,
  SetUpBody,
  SignInBody,
  Trigger,
  UpdateAgentBody,
  UpdateKeyBody,
  UpdateMeBody,
  UpdateMemberBody,
  UpdateProviderBody,
  UpdateTriggerBody,
  UpdateWorkspaceBody,
  User,
  VersionComparison,
  Workspace,
} from "./schemas.ts";

export function bindOperations(send: Sender) {
  return {
    agents: {
      /** Run an agent and wait for its answer. With the agent's token, or a key with the scope `agents:invoke`. The body is read as JSON whatever Content-Type says; members other than input are ignored. A caller that disconnects does not stop the run. With Accept: text/event-stream the answer is the run's events, as they come; a run that fails ends its stream with `run.failed`. */
      invoke: (
        agentId: string,
        body: InvokeAgentBody,
        options?: OnceOptions & {
          /** respond-async: 202 at once. wait=N: 202 after N seconds, unless the answer is there before. */
          readonly prefer?: string | number | undefined;
        },
      ): Promise<InvokeAgentAnswer> =>
        send.whole<InvokeAgentAnswer>(
          {
            method: "POST",
            path: "/agents/{agent_id}/invoke",
            params: [agentId],
            body,
            accept: "application/json",
            once: true,
            headers: { Prefer: options?.prefer },
          },
          options,
        ),

      /** Add an agent. The token in the answer invokes the agent; it can be revealed again. Needs the scope `agents:write`. */
      create: (body: CreateAgentBody, options?: OnceOptions): Promise<CreateAgentAnswer> =>
        send.data<CreateAgentAnswer>(
          { method: "POST", path: "/agents", body, once: true },
          options,
        ),

      /** List and search agents. `search` is part of the name or the description, in any case; `model` is whole; `deleted=true` lists the deleted ones that can be restored. Filters that are given apply together. Needs the scope `agents:read`. Reads further pages as they are needed. */
      list: (query?: ListAgentsQuery, options?: CallOptions): Listing<Agent> =>
        send.list<Agent>({ method: "GET", path: "/agents", query }, options),

      /** Read an agent. Needs the scope `agents:read`. */
      get: (agentId: string, options?: CallOptions): Promise<Agent> =>
        send.data<Agent>({ method: "GET", path: "/agents/{agent_id}", params: [agentId] }, options),

      /** Change an agent. Writes the agent's next version; runs that have started keep theirs. Needs the scope `agents:write`. */
      update: (
        agentId: string,
        body: UpdateAgentBody,
        options?: CallOptions & {
          /** The version that you have seen: refused if there is a newer one. */
          readonly ifMatch?: string | number | undefined;
        },
      ): Promise<Agent> =>
        send.data<Agent>(
          {
            method: "PATCH",
            path: "/agents/{agent_id}",
            params: [agentId],
            body,
            headers: { "If-Match": options?.ifMatch },
          },
          options,
        ),

      /** Delete an agent. Its token and triggers stop at once; accepted runs go on and stay readable. It can be restored for 30 days. Needs the scope `agents:write`. */
      delete: (
        agentId: string,
        options?: CallOptions & {
          /** The version that you have seen: refused if there is a newer one. */
          readonly ifMatch?: string | number | undefined;
        },
      ): Promise<void> =>
        send.nothing(
          {
            method: "DELETE",
            path: "/agents/{agent_id}",
            params: [agentId],
            headers: { "If-Match": options?.ifMatch },
          },
          options,
        ),

      /** Bring a deleted agent back. Within 30 days of its deletion. It comes back without a token and with its triggers disabled. Needs the scope `agents:write`. */
      restore: (agentId: string, options?: OnceOptions): Promise<Agent> =>
        send.data<Agent>(
          { method: "POST", path: "/agents/{agent_id}/restore", params: [agentId], once: true },
          options,
        ),

      /** Make another agent like this one. A new agent with what the current version holds, copies of its tools' secrets included, and a token of its own. It has no triggers and is not paused. Needs the scope `agents:write`. */
      duplicate: (
        agentId: string,
        body?: DuplicateAgentBody,
        options?: OnceOptions,
      ): Promise<DuplicateAgentAnswer> =>
        send.data<DuplicateAgentAnswer>(
          {
            method: "POST",
            path: "/agents/{agent_id}/duplicate",
            params: [agentId],
            body,
            once: true,
          },
          options,
        ),

      /** Refuse new runs of an agent. Needs the scope `agents:write`. */
      pause: (agentId: string, body?: PauseAgentBody, options?: OnceOptions): Promise<Agent> =>
        send.data<Agent>(
          { method: "POST", path: "/agents/{agent_id}/pause", params: [agentId], body, once: true },
          options,
        ),

      /** Let a paused agent start runs again. Needs the scope `agents:write`. */
      resume: (agentId: string, options?: OnceOptions): Promise<Agent> =>
        send.data<Agent>(
          { method: "POST", path: "/agents/{agent_id}/resume", params: [agentId], once: true },
          options,
        ),

      /** Issue a new token. The one before works for grace_seconds more, by default not at all. Needs the scope `agents:write`. */
      rotateToken: (
        agentId: string,
        body?: RotateAgentTokenBody,
        options?: OnceOptions,
      ): Promise<RotateAgentTokenAnswer> =>
        send.data<RotateAgentTokenAnswer>(
          {
            method: "POST",
            path: "/agents/{agent_id}/token/rotate",
            params: [agentId],
            body,
            once: true,
          },
          options,
        ),

      /** Show the token. The reveal is on record. Needs the scope `agents:write`. */
      revealToken: (agentId: string, options?: CallOptions): Promise<RevealAgentTokenAnswer> =>
        send.data<RevealAgentTokenAnswer>(
          { method: "GET", path: "/agents/{agent_id}/token", params: [agentId] },
          options,
        ),

      /** Revoke the token. Needs the scope `agents:write`. */
      revokeToken: (agentId: string, options?: CallOptions): Promise<void> =>
        send.nothing(
          { method: "DELETE", path: "/agents/{agent_id}/token", params: [agentId] },
          options,
        ),

      /** Export all agents. The oldest first. With all settings, without ids, tokens and secrets: where a tool has a secret, `{"secret": null}` stands. Triggers are in it for a credential that may read them (`triggers:read`). Needs the scope `agents:read`. */
      exportMany: (options?: CallOptions): Promise<ExportedAgents> =>
        send.whole<ExportedAgents>(
          {
            method: "GET",
            path: "/agents/export",
            query: { format: "json" },
            accept: "application/json",
          },
          options,
        ),

      /** Export all agents. The oldest first. With all settings, without ids, tokens and secrets: where a tool has a secret, `{"secret": null}` stands. Triggers are in it for a credential that may read them (`triggers:read`). Needs the scope `agents:read`. */
      exportManyYaml: (options?: CallOptions): Promise<string> =>
        send.text(
          {
            method: "GET",
            path: "/agents/export",
            query: { format: "yaml" },
            accept: "application/yaml",
          },
          options,
        ),

      /** Export an agent. With all settings, without ids, tokens and secrets: where a tool has a secret, `{"secret": null}` stands. Triggers are in it for a credential that may read them (`triggers:read`). Needs the scope `agents:read`. */
      export: (agentId: string, options?: CallOptions): Promise<ExportedAgents> =>
        send.whole<ExportedAgents>(
          {
            method: "GET",
            path: "/agents/{agent_id}/export",
            params: [agentId],
            query: { format: "json" },
            accept: "application/json",
          },
          options,
        ),

      /** Export an agent. With all settings, without ids, tokens and secrets: where a tool has a secret, `{"secret": null}` stands. Triggers are in it for a credential that may read them (`triggers:read`). Needs the scope `agents:read`. */
      exportYaml: (agentId: string, options?: CallOptions): Promise<string> =>
        send.text(
          {
            method: "GET",
            path: "/agents/{agent_id}/export",
            params: [agentId],
            query: { format: "yaml" },
            accept: "application/yaml",
          },
          options,
        ),

      /** Import agents. Takes what an export gives, up to 500 agents with 1,000 triggers; all are made, or none. They are new agents whatever there is already, with tokens that the answer shows. A model is looked up by its provider's name here. `{"secret": null}` may be filled in; a tool whose secret is missing fails until one is given. A document with triggers needs the scope `triggers:write` too. Needs the scope `agents:write`. */
      import: (body: ImportAgentsBody | string, options?: OnceOptions): Promise<ImportedAgents> =>
        send.data<ImportedAgents>(
          {
            method: "POST",
            path: "/agents/import",
            body,
            bodyType: "application/yaml",
            once: true,
          },
          options,
        ),
    },
    triggers: {
      /** Start a run by its trigger's URL. The URL is the credential: no header is needed. The run's input is the trigger's prompt prefix, a blank line and the body. JSON and text are passed on unchanged, a URL-encoded form becomes a JSON object. */
      fire: (
        token: string,
        body?: FireTriggerBody | string,
        options?: OnceOptions,
      ): Promise<FireTriggerAnswer> =>
        send.whole<FireTriggerAnswer>(
          {
            method: "POST",
            path: "/triggers/{token}",
            params: [token],
            body,
            bodyType: "text/plain",
            once: true,
            open: true,
          },
          options,
        ),

      /** Add a trigger. Whoever has the url in the answer can fire it; it can be revealed again. Needs the scope `triggers:write`. */
      create: (
        agentId: string,
        body: CreateTriggerBody,
        options?: OnceOptions,
      ): Promise<CreateTriggerAnswer> =>
        send.data<CreateTriggerAnswer>(
          {
            method: "POST",
            path: "/agents/{agent_id}/triggers",
            params: [agentId],
            body,
            once: true,
          },
          options,
        ),

      /** List an agent's triggers. Needs the scope `triggers:read`. Reads further pages as they are needed. */
      list: (agentId: string, query?: ListTriggersQuery, options?: CallOptions): Listing<Trigger> =>
        send.list<Trigger>(
          { method: "GET", path: "/agents/{agent_id}/triggers", params: [agentId], query },
          options,
        ),

      /** Read a trigger. Needs the scope `triggers:read`. */
      get: (agentId: string, triggerId: string, options?: CallOptions): Promise<Trigger> =>
        send.data<Trigger>(
          {
            method: "GET",
            path: "/agents/{agent_id}/triggers/{trigger_id}",
            params: [agentId, triggerId],
          },
          options,
        ),

      /** Change, enable or disable a trigger. Needs the scope `triggers:write`. */
      update: (
        agentId: string,
        triggerId: string,
        body: UpdateTriggerBody,
        options?: CallOptions,
      ): Promise<Trigger> =>
        send.data<Trigger>(
          {
            method: "PATCH",
            path: "/agents/{agent_id}/triggers/{trigger_id}",
            params: [agentId, triggerId],
            body,
          },
          options,
        ),

      /** Delete a trigger. Its URL stops at once; runs it has started go on. Needs the scope `triggers:write`. */
      delete: (agentId: string, triggerId: string, options?: CallOptions): Promise<void> =>
        send.nothing(
          {
            method: "DELETE",
            path: "/agents/{agent_id}/triggers/{trigger_id}",
            params: [agentId, triggerId],
          },
          options,
        ),

      /** Give a trigger a new URL. The one before works for grace_seconds more, by default not at all. Needs the scope `triggers:write`. */
      rotate: (
        agentId: string,
        triggerId: string,
        body?: RotateTriggerBody,
        options?: OnceOptions,
      ): Promise<RotateTriggerAnswer> =>
        send.data<RotateTriggerAnswer>(
          {
            method: "POST",
            path: "/agents/{agent_id}/triggers/{trigger_id}/rotate",
            params: [agentId, triggerId],
            body,
            once: true,
          },
          options,
        ),

      /** Show a trigger's URL. The reveal is on record. Needs the scope `triggers:write`. */
      reveal: (
        agentId: string,
        triggerId: string,
        options?: CallOptions,
      ): Promise<RevealTriggerAnswer> =>
        send.data<RevealTriggerAnswer>(
          {
            method: "GET",
            path: "/agents/{agent_id}/triggers/{trigger_id}/token",
            params: [agentId, triggerId],
          },
          options,
        ),
    },
    versions: {
      /** List an agent's versions. Needs the scope `agents:read`. Reads further pages as they are needed. */
      list: (
        agentId: string,
        query?: ListAgentVersionsQuery,
        options?: CallOptions,
      ): Listing<AgentVersionEntry> =>
        send.list<AgentVersionEntry>(
          { method: "GET", path: "/agents/{agent_id}/versions", params: [agentId], query },
          options,
        ),

      /** Read a version. Needs the scope `agents:read`. */
      get: (agentId: string, version: string, options?: CallOptions): Promise<AgentVersion> =>
        send.data<AgentVersion>(
          {
            method: "GET",
            path: "/agents/{agent_id}/versions/{version}",
            params: [agentId, version],
          },
          options,
        ),

      /** Show what has changed since a version. Up to the version `with`, by default the current one. Lists are compared by position. Needs the scope `agents:read`. */
      compare: (
        agentId: string,
        version: string,
        query?: CompareAgentVersionsQuery,
        options?: CallOptions,
      ): Promise<VersionComparison> =>
        send.data<VersionComparison>(
          {
            method: "GET",
            path: "/agents/{agent_id}/versions/{version}/compare",
            params: [agentId, version],
            query,
          },
          options,
        ),

      /** Go back to a version. Writes the agent's next version, equal to this one. Refused when its provider, or a secret of its tools, is gone by now. Secrets that only the current version uses are deleted. Needs the scope `agents:write`. */
      restore: (
        agentId: string,
        version: string,
        options?: OnceOptions & {
          /** The version that you have seen: refused if there is a newer one. */
          readonly ifMatch?: string | number | undefined;
        },
      ): Promise<Agent> =>
        send.data<Agent>(
          {
            method: "POST",
            path: "/agents/{agent_id}/versions/{version}/restore",
            params: [agentId, version],
            once: true,
            headers: { "If-Match": options?.ifMatch },
          },
          options,
        ),
    },
    runs: {
      /** Search runs. All filters that are given must hold. created_after is the first moment, created_before the one after the last; error is part of the error's code or message. A page looks at a limited number of runs: it may hold fewer than limit, even none, and yet have a next; the search is over when next is null. Needs the scope `runs:read`. Reads further pages as they are needed. */
      list: (query?: ListRunsQuery, options?: CallOptions): Listing<Run> =>
        send.list<Run>({ method: "GET", path: "/runs", query }, options),

      /** Search an agent's runs. All filters that are given must hold. created_after is the first moment, created_before the one after the last; error is part of the error's code or message. A page looks at a limited number of runs: it may hold fewer than limit, even none, and yet have a next; the search is over when next is null. Needs the scope `runs:read`. Reads further pages as they are needed. */
      listForAgent: (
        agentId: string,
        query?: ListAgentRunsQuery,
        options?: CallOptions,
      ): Listing<Run> =>
        send.list<Run>(
          { method: "GET", path: "/agents/{agent_id}/runs", params: [agentId], query },
          options,
        ),

      /** Read a run. It is over when finished_at is set. Needs the scope `runs:read`. */
      get: (runId: string, options?: CallOptions): Promise<Run> =>
        send.data<Run>({ method: "GET", path: "/runs/{run_id}", params: [runId] }, options),

      /** Delete a run. With its journal and its files, for good; only when it has ended. A repeat of the request that started it, with its Idempotency-Key, starts nothing. Needs the scope `runs:write`. */
      delete: (runId: string, options?: CallOptions): Promise<void> =>
        send.nothing({ method: "DELETE", path: "/runs/{run_id}", params: [runId] }, options),

      /** Cancel a run. A queued run ends at once, a running one as soon as it can be stopped, a finished one stays as it is. Needs the scope `runs:write`. */
      cancel: (runId: string, options?: CallOptions): Promise<Run> =>
        send.data<Run>({ method: "POST", path: "/runs/{run_id}/cancel", params: [runId] }, options),

      /** Cancel many runs. Each as one by one. Runs that are started after the call, and those that are being cancelled already, are not touched. Which ones: a filter as for the search, or all: true. One call changes a limited number; while next is not null, send the same again with it as after. Needs the scope `runs:write`. */
      cancelMany: (body: CancelRunsBody, options?: CallOptions): Promise<CancelRunsAnswer> =>
        send.data<CancelRunsAnswer>({ method: "POST", path: "/runs/cancel", body }, options),

      /** Retry a run. Starts a new run with the payload of one that has ended, on the agent as it is now, or with version original as it was then. The new run names the old one as retry_of and keeps its source; it is queued as any other. Needs the scope `runs:write`. */
      retry: (runId: string, body?: RetryRunBody, options?: OnceOptions): Promise<Run> =>
        send.data<Run>(
          { method: "POST", path: "/runs/{run_id}/retry", params: [runId], body, once: true },
          options,
        ),

      /** Delete many runs. Each as one by one; runs that have not ended are not touched. Which ones: a filter as for the search, or all: true. One call changes a limited number; while next is not null, send the same again with it as after. Needs the scope `runs:write`. */
      deleteMany: (body: DeleteRunsBody, options?: CallOptions): Promise<DeleteRunsAnswer> =>
        send.data<DeleteRunsAnswer>({ method: "POST", path: "/runs/delete", body }, options),

      /** Read a run's journal. Oldest first; after is the last seq that was seen. Needs the scope `runs:read`. Reads further pages as they are needed. */
      listEvents: (
        runId: string,
        query?: ListRunEventsQuery,
        options?: CallOptions,
      ): Listing<RunEvent> =>
        send.list<RunEvent>(
          {
            method: "GET",
            path: "/runs/{run_id}/events",
            params: [runId],
            query,
            accept: "application/json",
          },
          options,
        ),
    },
    events: {
      /** Read the events of all runs. Of the whole workspace, or of one agent; oldest first, in the order in which they became durable. A page looks at limit events and holds those that match. Each has its cursor, to go on after it. Events that belong to no run (agent.paused, agent.resumed) are listed only if kind names them; their run_id and seq are null. An agent's token cannot name them. Needs the scope `runs:read`. Reads further pages as they are needed. */
      list: (query?: ListEventsQuery, options?: CallOptions): Listing<ListEventsAnswer> =>
        send.list<ListEventsAnswer>(
          { method: "GET", path: "/events", query, accept: "application/json" },
          options,
        ),
    },
    providers: {
      /** Add a provider of models. The host of base_url must be public, unless the operator of Beckon names it in BECKON_EGRESS_ALLOW. Needs the scope `providers:write`. */
      create: (body: CreateProviderBody, options?: OnceOptions): Promise<Provider> =>
        send.data<Provider>({ method: "POST", path: "/providers", body, once: true }, options),

      /** List providers. The workspace's own, then the operator's: accounts of the environment, and model servers found on Beckon's machine. Needs the scope `providers:read`. Reads further pages as they are needed. */
      list: (query?: ListProvidersQuery, options?: CallOptions): Listing<Provider> =>
        send.list<Provider>({ method: "GET", path: "/providers", query }, options),

      /** Read a provider. Needs the scope `providers:read`. */
      get: (providerId: string, options?: CallOptions): Promise<Provider> =>
        send.data<Provider>(
          { method: "GET", path: "/providers/{provider_id}", params: [providerId] },
          options,
        ),

      /** Change a provider's address or key. null removes the key, or restores the kind's default address. A base_url of another origin (scheme, host, port) needs api_key in the same request if a key is stored: a key is sent only to the origin it was given for. Needs the scope `providers:write`. */
      update: (
        providerId: string,
        body: UpdateProviderBody,
        options?: CallOptions,
      ): Promise<Provider> =>
        send.data<Provider>(
          { method: "PATCH", path: "/providers/{provider_id}", params: [providerId], body },
          options,
        ),

      /** Delete a provider. Rejected while an agent uses it, and for a provider of the operator. Needs the scope `providers:write`. */
      delete: (providerId: string, options?: CallOptions): Promise<void> =>
        send.nothing(
          { method: "DELETE", path: "/providers/{provider_id}", params: [providerId] },
          options,
        ),

      /** Check a provider's address and key. Requests the provider's list of models; changes nothing. A model server of Beckon's machine is requested at most every 30 seconds. Needs the scope `providers:write`. */
      check: (providerId: string, options?: CallOptions): Promise<ProviderCheck> =>
        send.data<ProviderCheck>(
          { method: "POST", path: "/providers/{provider_id}/check", params: [providerId] },
          options,
        ),
    },
    models: {
      /** List the models that agents can use. One item for each provider of GET /providers, and one for the built-in demo/echo. A provider that does not list its models in time has an error in their place. Lists are up to 30 seconds old. Needs the scope `providers:read`. Reads further pages as they are needed. */
      list: (query?: ListModelsQuery, options?: CallOptions): Listing<ModelList> =>
        send.list<ModelList>({ method: "GET", path: "/models", query }, options),
    },
    tools: {
      /** Make a tool of an OpenAPI document. Nothing is stored or called: complete the tool with secrets and put it into an agent. Needs the scope `agents:write`. */
      importHttp: (
        body: ImportHttpToolBody,
        options?: CallOptions,
      ): Promise<ImportHttpToolAnswer> =>
        send.data<ImportHttpToolAnswer>(
          { method: "POST", path: "/tools/http/import", body },
          options,
        ),
    },
    keys: {
      /** Add a key. The secret, key, is shown in this answer only. Give scopes or a preset; without an expiry it lives 90 days, null is for ever. No key can give more than it has. Needs the scope `keys:write`. */
      create: (body: CreateKeyBody, options?: OnceOptions): Promise<CreateKeyAnswer> =>
        send.data<CreateKeyAnswer>({ method: "POST", path: "/keys", body, once: true }, options),

      /** List keys. Needs the scope `keys:read`. Reads further pages as they are needed. */
      list: (query?: ListKeysQuery, options?: CallOptions): Listing<Key> =>
        send.list<Key>({ method: "GET", path: "/keys", query }, options),

      /** Read a key. Needs the scope `keys:read`. */
      get: (keyId: string, options?: CallOptions): Promise<Key> =>
        send.data<Key>({ method: "GET", path: "/keys/{key_id}", params: [keyId] }, options),

      /** Change a key. Holds for every request sent after the answer. Needs the scope `keys:write`. */
      update: (keyId: string, body: UpdateKeyBody, options?: CallOptions): Promise<Key> =>
        send.data<Key>({ method: "PATCH", path: "/keys/{key_id}", params: [keyId], body }, options),

      /** Revoke a key. Every request sent after the answer is refused. Needs the scope `keys:write`. */
      delete: (keyId: string, options?: CallOptions): Promise<void> =>
        send.nothing({ method: "DELETE", path: "/keys/{key_id}", params: [keyId] }, options),

      /** Give a key a new secret. The one before works for grace_seconds more, by default not at all. Needs the scope `keys:write`. */
      rotate: (
        keyId: string,
        body?: RotateKeyBody,
        options?: OnceOptions,
      ): Promise<RotateKeyAnswer> =>
        send.data<RotateKeyAnswer>(
          { method: "POST", path: "/keys/{key_id}/rotate", params: [keyId], body, once: true },
          options,
        ),
    },
    audit: {
      /** List changes and reveals. Needs the scope `audit:read`. Reads further pages as they are needed. */
      list: (query?: ListAuditQuery, options?: CallOptions): Listing<AuditEntry> =>
        send.list<AuditEntry>({ method: "GET", path: "/audit", query }, options),

      /** Export changes and reveals as JSON Lines. Needs the scope `audit:read`. */
      export: (query?: ExportAuditQuery, options?: CallOptions): AsyncIterable<AuditEntry> =>
        send.lines<AuditEntry>({ method: "GET", path: "/audit/export", query }, options),
    },
    workspaces: {
      /** List one's workspaces. For a session all those of the member, for a key its own one. Needs the scope `workspaces:read`. Reads further pages as they are needed. */
      list: (query?: ListWorkspacesQuery, options?: CallOptions): Listing<Workspace> =>
        send.list<Workspace>({ method: "GET", path: "/workspaces", query }, options),

      /** Add a workspace. Done by owners and keys of the workspace default. A member who adds one owns it. A key is answered with a key like itself in the new workspace, shown in this answer only. Needs the scope `workspaces:own`. */
      create: (body: CreateWorkspaceBody, options?: OnceOptions): Promise<CreateWorkspaceAnswer> =>
        send.data<CreateWorkspaceAnswer>(
          { method: "POST", path: "/workspaces", body, once: true },
          options,
        ),

      /** Read a workspace. Needs the scope `workspaces:read`. */
      get: (workspaceId: string, options?: CallOptions): Promise<Workspace> =>
        send.data<Workspace>(
          { method: "GET", path: "/workspaces/{workspace_id}", params: [workspaceId] },
          options,
        ),

      /** Change a workspace. Needs the scope `workspaces:write`. */
      update: (
        workspaceId: string,
        body: UpdateWorkspaceBody,
        options?: CallOptions,
      ): Promise<Workspace> =>
        send.data<Workspace>(
          { method: "PATCH", path: "/workspaces/{workspace_id}", params: [workspaceId], body },
          options,
        ),
    },
    members: {
      /** List members. Needs the scope `members:read`. Reads further pages as they are needed. */
      list: (query?: ListMembersQuery, options?: CallOptions): Listing<Member> =>
        send.list<Member>({ method: "GET", path: "/members", query }, options),

      /** Change a member's role. Holds for every request sent after the answer. Nobody gives a role above their own, nor changes who is above them. Needs the scope `members:write`. */
      update: (userId: string, body: UpdateMemberBody, options?: CallOptions): Promise<Member> =>
        send.data<Member>(
          { method: "PATCH", path: "/members/{user_id}", params: [userId], body },
          options,
        ),

      /** Remove a member, or leave. Every request sent after the answer is refused. Everybody may remove themselves, but the last owner. Needs the scope `members:write`. */
      remove: (userId: string, options?: CallOptions): Promise<void> =>
        send.nothing({ method: "DELETE", path: "/members/{user_id}", params: [userId] }, options),

      /** Make a link by which a member sets a new password. It works once, for 24 hours, and takes the place of the one before. It stops when you could not make it any more, or when a membership or role of the member changes. The member must be in no workspace that you do not own, unless you own the workspace default. Needs the scope `workspaces:own`. */
      createResetLink: (userId: string, options?: OnceOptions): Promise<CreateResetLinkAnswer> =>
        send.data<CreateResetLinkAnswer>(
          { method: "POST", path: "/members/{user_id}/reset-link", params: [userId], once: true },
          options,
        ),
    },
    invitations: {
      /** Invite a person. The link, url, is shown in this answer only; hand it to the person. It works once, for as long as you could make it. The e-mail is a label: whoever accepts chooses the account. Nobody invites to a role above their own. Needs the scope `members:write`. */
      create: (
        body: CreateInvitationBody,
        options?: OnceOptions,
      ): Promise<CreateInvitationAnswer> =>
        send.data<CreateInvitationAnswer>(
          { method: "POST", path: "/invitations", body, once: true },
          options,
        ),

      /** List open invitations. Needs the scope `members:read`. Reads further pages as they are needed. */
      list: (query?: ListInvitationsQuery, options?: CallOptions): Listing<Invitation> =>
        send.list<Invitation>({ method: "GET", path: "/invitations", query }, options),

      /** Take an invitation back. Its link stops at once. Needs the scope `members:write`. */
      delete: (invitationId: string, options?: CallOptions): Promise<void> =>
        send.nothing(
          { method: "DELETE", path: "/invitations/{invitation_id}", params: [invitationId] },
          options,
        ),

      /** Accept an invitation. Joins with an account that you choose: without password the one that is signed in, with password the one that has it and email (by default the invitation's). If there is none, a name makes a new account. An e-mail is a label: several accounts can have the same one, but not two members of one workspace, which is a 409. Needs no credential. */
      accept: (body: AcceptInvitationBody, options?: CallOptions): Promise<AcceptedInvitation> =>
        send.data<AcceptedInvitation>(
          { method: "POST", path: "/invitations/accept", body, open: true },
          options,
        ),
    },
    /** Become the first owner. Takes the token of the link that Beckon prints at its start, once. There is one as long as there is no owner, a new one at each start. Needs no credential. */
    setUp: (body: SetUpBody, options?: CallOptions): Promise<User> =>
      send.data<User>({ method: "POST", path: "/setup", body, open: true }, options),

    /** Sign in. The answer sets the session's cookie, which authenticates all routes but triggers. A session lives 30 days from its last use. Beyond the limit of failures from an address no password is looked at. Several accounts can have the same e-mail: workspace_id names a workspace of which you are a member; without it the passwords of the oldest four are compared, and the oldest that has yours signs in. Needs no credential. */
    signIn: (body: SignInBody, options?: CallOptions): Promise<User> =>
      send.data<User>({ method: "POST", path: "/sign-in", body, open: true }, options),

    /** End the session. Its cookie is refused by every request sent after the answer. Needs a session. */
    signOut: (options?: CallOptions): Promise<void> =>
      send.nothing({ method: "POST", path: "/sign-out", open: true }, options),

    me: {
      /** Read who is signed in, and their role in which workspace. Needs a session. */
      get: (options?: CallOptions): Promise<Me> =>
        send.data<Me>({ method: "GET", path: "/me", open: true }, options),

      /** Change one's own name. Needs a session. */
      update: (body: UpdateMeBody, options?: CallOptions): Promise<User> =>
        send.data<User>({ method: "PATCH", path: "/me", body, open: true }, options),
    },
    sessions: {
      /** List one's own sessions. Needs a session. Reads further pages as they are needed. */
      list: (query?: ListSessionsQuery, options?: CallOptions): Listing<Session> =>
        send.list<Session>({ method: "GET", path: "/sessions", query, open: true }, options),

      /** End all of one's own sessions but this one. Needs a session. */
      revokeOther: (options?: CallOptions): Promise<void> =>
        send.nothing({ method: "DELETE", path: "/sessions", open: true }, options),

      /** End one of one's own sessions. Needs a session. */
      revoke: (sessionId: string, options?: CallOptions): Promise<void> =>
        send.nothing(
          { method: "DELETE", path: "/sessions/{session_id}", params: [sessionId], open: true },
          options,
        ),
    },
    password: {
      /** Change one's own password. All other sessions end. Needs a session. */
      change: (body: ChangePasswordBody, options?: CallOptions): Promise<void> =>
        send.nothing({ method: "POST", path: "/password", body, open: true }, options),

      /** Set a new password by a link that an owner made. The link works once, for as long as its issuer could make it and no membership or role of the person has changed. All sessions of the person end. Needs no credential. */
      reset: (body: ResetPasswordBody, options?: CallOptions): Promise<void> =>
        send.nothing({ method: "POST", path: "/password/reset", body, open: true }, options),
    },
  };
}
export type Operations = ReturnType<typeof bindOperations>;
