/** One function per operation of the API. Long because it is generated: `node script/client.ts` makes it from docs/openapi.json. */

import type { Listing } from "../listing.ts";
import type { CallOptions, LabelOptions, OnceOptions } from "../options.ts";
import type { Sender } from "../sender.ts";
import type { JournalEvent, WorkspaceEvent } from "../watched-event.ts";
import type {
  AcceptedInvitation,
  AcceptInvitationBody,
  Agent,
  AgentVersion,
  AgentVersionEntry,
  AuditEntry,
  CancelRunsAnswer,
  CancelRunsBody,
  Ceiling,
  ChangePasswordBody,
  CheckInvitationBody,
  CheckPasswordResetBody,
  CheckSetupBody,
  CompareAgentVersionsQuery,
  CreateAgentAnswer,
  CreateAgentBody,
  CreateInvitationAnswer,
  CreateInvitationBody,
  CreateKeyAnswer,
  CreateKeyBody,
  CreatePlanBody,
  CreatePriceBody,
  CreateProviderBody,
  CreateResetLinkAnswer,
  CreateSubscriptionAnswer,
  CreateSubscriptionBody,
  CreateTriggerAnswer,
  CreateTriggerBody,
  CreateWorkspaceAnswer,
  CreateWorkspaceBody,
  DeleteRunsAnswer,
  DeleteRunsBody,
  Delivery,
  DeliveryDetails,
  DuplicateAgentAnswer,
  DuplicateAgentBody,
  ExportAuditQuery,
  ExportedAgents,
  FireTriggerAnswer,
  FireTriggerBody,
  GetRunStatsQuery,
  GetUsageQuery,
  ImportAgentsBody,
  ImportedAgents,
  ImportHttpToolAnswer,
  ImportHttpToolBody,
  Invitation,
  InvitationCheck,
  InvokeAgentAnswer,
  InvokeAgentBody,
  Key,
  ListAgentRunsQuery,
  ListAgentsQuery,
  ListAgentVersionsQuery,
  ListAuditQuery,
  ListDeliveriesQuery,
  ListEventsQuery,
  ListedRun,
  ListenTriggerBody,
  ListInvitationsQuery,
  ListKeysQuery,
  ListLimitsQuery,
  ListMembersQuery,
  ListModelsQuery,
  ListPlansQuery,
  ListPricesQuery,
  ListProvidersQuery,
  ListRunDeliveriesQuery,
  ListRunEventsQuery,
  ListRunsQuery,
  ListSessionsQuery,
  ListSubscriptionsQuery,
  ListTriggerRequestsQuery,
  ListTriggersQuery,
  ListWorkspacePlansQuery,
  ListWorkspacesQuery,
  Me,
  Member,
  ModelList,
  ModelPrice,
  PauseAgentBody,
  Plan,
  PlanUsage,
  PreviewTriggerBody,
  Provider,
  ProviderCheck,
  ReceivedRequest,
  ReceivedRequestDetails,
  ReplayDeliveriesAnswer,
  ReplayDeliveriesBody,
  ReplayTriggerRequestBody,
  ReplayTriggerRequestsAnswer,
  ReplayTriggerRequestsBody,
  ResetCheck,
  ResetPasswordBody,
  ResumedSubscription,
  RetryRunBody,
  RevealAgentTokenAnswer,
  RevealSubscriptionSecretAnswer,
  RevealTriggerAnswer,
  RevealTriggerSecretAnswer,
  RotateAgentTokenAnswer,
  RotateAgentTokenBody,
  RotateKeyAnswer,
  RotateKeyBody,
  RotateSubscriptionSecretAnswer,
  RotateSubscriptionSecretBody,
  RotateTriggerAnswer,
  RotateTriggerBody,
  Run,
  RunStats,
  Session,
  SetLimitBody,
  SetTriggerSecretAnswer,
  SetTriggerSecretBody,
  SetUpBody,
  SetupCheck,
  SignInBody,
  StartDraftRunBody,
  Subscription,
  TestSubscriptionBody,
  TestTriggerBody,
  Trigger,
  TriggerPreset,
  TriggerPreview,
  UpdateAgentBody,
  UpdateKeyBody,
  UpdateMeBody,
  UpdateMemberBody,
  UpdatePlanBody,
  UpdatePriceBody,
  UpdateProviderBody,
  UpdateSubscriptionBody,
  UpdateTriggerAnswer,
  UpdateTriggerBody,
  UpdateWorkspaceBody,
  UpdateWorkspacePlanBody,
  UsageReport,
  User,
  VersionComparison,
  Workspace,
  WorkspacePlan,
} from "./schemas.ts";

export function bindOperations(send: Sender) {
  return {
    agents: {
      /** Invoke agent. Runs the agent and waits for its output: the text of the model's last response or, if that is blank, the last text of an earlier step. If Beckon stops before the run ends, the response is a 202 without output, also without `Prefer`. Authenticate with the agent's token, or a key with the scope `agents:invoke`. The body is parsed as JSON whatever its Content-Type; fields other than `input` are ignored and named in the header `beckon-ignored-fields`. Disconnecting does not stop the run. With `Accept: text/event-stream`, the response streams the run's events; the stream of a run that fails ends with `run.failed`. If a limit is spent before the run starts, there is no stream: the response is a JSON error, 500, with `run_id` if the run was stored. */
      invoke: (
        agentId: string,
        body: InvokeAgentBody,
        options?: OnceOptions &
          LabelOptions & {
            /** `respond-async`: respond with 202 at once. `wait=N`: respond with 202 after N seconds unless the run has ended. RFC 7240. */
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
            labelled: true,
            headers: { Prefer: options?.prefer },
          },
          options,
        ),

      /** Create agent. The token in the response invokes the agent. It can be revealed later. Needs the scope `agents:write`. */
      create: (body: CreateAgentBody, options?: OnceOptions): Promise<CreateAgentAnswer> =>
        send.data<CreateAgentAnswer>(
          { method: "POST", path: "/agents", body, once: true },
          options,
        ),

      /** List agents. All filters apply together. `search` matches part of the name or the description, ignoring case; `model` matches the whole name. `deleted=true` lists deleted agents that can be restored. `view=summary` is for lists of names: whole agents can be large. Needs the scope `agents:read`. Reads further pages as they are needed. */
      list: (query?: ListAgentsQuery, options?: CallOptions): Listing<Agent> =>
        send.list<Agent>({ method: "GET", path: "/agents", query }, options),

      /** Get agent. Needs the scope `agents:read`. */
      get: (agentId: string, options?: CallOptions): Promise<Agent> =>
        send.data<Agent>({ method: "GET", path: "/agents/{agent_id}", params: [agentId] }, options),

      /** Update agent. Creates the agent's next version, or none if nothing changes. Runs that have started keep theirs. Needs the scope `agents:write`. */
      update: (
        agentId: string,
        body: UpdateAgentBody,
        options?: CallOptions & {
          /** The version that you have read: the value of `ETag`. If it is no longer the current version, the request is rejected with 412. */
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

      /** Delete agent. Its token and triggers stop at once. Accepted runs continue and stay readable. Runs that are held while the agent is paused stay held: to execute them, restore and resume the agent. The agent can be restored for 30 days. Needs the scope `agents:write`. */
      delete: (
        agentId: string,
        options?: CallOptions & {
          /** The version that you have read: the value of `ETag`. If it is no longer the current version, the request is rejected with 412. */
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

      /** Restore agent. Restores an agent within 30 days of its deletion, without a token and with its triggers disabled. Their `when_disabled` becomes `refuse`, so that no event is swallowed. Needs the scope `agents:write`. */
      restore: (agentId: string, options?: OnceOptions): Promise<Agent> =>
        send.data<Agent>(
          { method: "POST", path: "/agents/{agent_id}/restore", params: [agentId], once: true },
          options,
        ),

      /** Duplicate agent. Creates an agent with the configuration of the current version, including copies of its tools' secrets, and a token of its own. The new agent has no triggers and is not paused. Needs the scope `agents:write`. */
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

      /** Pause agent. Rejects new runs with 409 `agent_paused`, and holds those of triggers with `when_paused: hold` until the agent is resumed. Accepted runs continue. Needs the scope `agents:write`. */
      pause: (agentId: string, body?: PauseAgentBody, options?: OnceOptions): Promise<Agent> =>
        send.data<Agent>(
          { method: "POST", path: "/agents/{agent_id}/pause", params: [agentId], body, once: true },
          options,
        ),

      /** Resume agent. Accepts new runs again. Needs the scope `agents:write`. */
      resume: (agentId: string, options?: OnceOptions): Promise<Agent> =>
        send.data<Agent>(
          { method: "POST", path: "/agents/{agent_id}/resume", params: [agentId], once: true },
          options,
        ),

      /** Rotate agent token. Issues a new token. The previous one stays valid for `grace_seconds`, 0 by default. A token that an earlier rotation replaced stops at once, even in its grace period. Needs the scope `agents:write`. */
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

      /** Reveal agent token. The audit log records the reveal. Needs the scope `agents:write`. */
      revealToken: (agentId: string, options?: CallOptions): Promise<RevealAgentTokenAnswer> =>
        send.data<RevealAgentTokenAnswer>(
          { method: "GET", path: "/agents/{agent_id}/token", params: [agentId] },
          options,
        ),

      /** Revoke agent token. The token stops at once. Rotate to issue a new one. Needs the scope `agents:write`. */
      revokeToken: (agentId: string, options?: CallOptions): Promise<void> =>
        send.nothing(
          { method: "DELETE", path: "/agents/{agent_id}/token", params: [agentId] },
          options,
        ),

      /** Export all agents. Oldest first. The file has all settings, but no ids, tokens or secrets: a tool's secret is `{"secret": null}`. It has triggers if the credential has the scope `triggers:read`. Needs the scope `agents:read`. */
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

      /** Export all agents. Oldest first. The file has all settings, but no ids, tokens or secrets: a tool's secret is `{"secret": null}`. It has triggers if the credential has the scope `triggers:read`. Needs the scope `agents:read`. */
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

      /** Export agent. The file has all settings, but no ids, tokens or secrets: a tool's secret is `{"secret": null}`. It has triggers if the credential has the scope `triggers:read`. Needs the scope `agents:read`. */
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

      /** Export agent. The file has all settings, but no ids, tokens or secrets: a tool's secret is `{"secret": null}`. It has triggers if the credential has the scope `triggers:read`. Needs the scope `agents:read`. */
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

      /** Import agents. Accepts an exported file with at most 500 agents and 1,000 triggers. Creates all of them or none, always as new agents; the response has their tokens. Models are found by the provider's name in this workspace. Replace `{"secret": null}` by a secret; a tool without its secret fails until it gets one. A file with triggers also needs the scope `triggers:write`. Needs the scope `agents:write`. */
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

      /** Start draft run. Runs the agent with changes that are not saved, and responds with the run as soon as it is durable. `config` has the fields of Update agent and is merged with the current version, which is the run's `agent_version`. Tools can refer to secrets of the agent by `secret_id`, each for the origins that it was given for; a new secret is rejected. `max_concurrent_runs` and `max_queued_runs` stay those of the agent. The run has the source `draft`; its configuration is deleted with it. Without the scope `runs:read`, `input` in the response is empty and `output` null. Needs the scopes `agents:write` and `agents:invoke`. */
      startDraftRun: (
        agentId: string,
        body: StartDraftRunBody,
        options?: OnceOptions,
      ): Promise<Run> =>
        send.data<Run>(
          {
            method: "POST",
            path: "/agents/{agent_id}/draft-runs",
            params: [agentId],
            body,
            once: true,
          },
          options,
        ),
    },
    triggers: {
      /** Fire trigger. Starts a run and responds as soon as it is durable. The URL is the credential: no header is needed, and `Authorization` is ignored. The run's input is the trigger's prompt prefix, a blank line and the body. JSON and text are passed on unchanged, a URL-encoded form becomes a JSON object. A body without Content-Type is text. An empty body is valid if the trigger has a prompt prefix. These rules for bodies and input do not apply to a trigger with the setting `receiving`, which determines the accepted bodies and the run's input. Its field `form.answer` determines the response to a browser form: a text as HTML, or 303. A request whose `Accept` names `application/json` gets JSON. Such a trigger can also accept other types, such as multipart forms, XML, NDJSON and CSV: see its `bodies`. A request can have any query parameters. The handshakes of Meta and Dropbox are GET requests to the same URL, which gets the challenge as text. */
      fire: (
        token: string,
        body?: FireTriggerBody | string,
        options?: OnceOptions & LabelOptions,
      ): Promise<FireTriggerAnswer> =>
        send.whole<FireTriggerAnswer>(
          {
            method: "POST",
            path: "/triggers/{token}",
            params: [token],
            body,
            bodyType: "text/plain",
            accept: "application/json",
            once: true,
            labelled: true,
            open: true,
          },
          options,
        ),

      /** Create trigger. Anyone with the `url` in the response can fire the trigger, unless `receiving` has a verification. The URL can be revealed later. Needs the scope `triggers:write`. */
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

      /** List triggers. Needs the scope `triggers:read`. Reads further pages as they are needed. */
      list: (agentId: string, query?: ListTriggersQuery, options?: CallOptions): Listing<Trigger> =>
        send.list<Trigger>(
          { method: "GET", path: "/agents/{agent_id}/triggers", params: [agentId], query },
          options,
        ),

      /** Get trigger. Needs the scope `triggers:read`. */
      get: (agentId: string, triggerId: string, options?: CallOptions): Promise<Trigger> =>
        send.data<Trigger>(
          {
            method: "GET",
            path: "/agents/{agent_id}/triggers/{trigger_id}",
            params: [agentId, triggerId],
          },
          options,
        ),

      /** Update trigger. A disabled trigger rejects fires with 409 `trigger_disabled`, or swallows them if it is set to. `receiving` is replaced as a whole: what it leaves out gets the value of its `preset` or, without one, the default, which verifies nothing. If the trigger has a secret and no longer verifies its requests, `warnings` says so. A filter or template that is not valid is rejected; `warnings` also has the mistakes that it makes with the last received request, if the caller has the scope `runs:read`. A secret that the new verification cannot use is kept, and `sender_secret_set` is false until another one is set. A trigger with a secret that is switched to Meta gets a verify token. Needs the scope `triggers:write`. */
      update: (
        agentId: string,
        triggerId: string,
        body: UpdateTriggerBody,
        options?: CallOptions & {
          /** The version that you have read: the value of `ETag`. If it is no longer the current version, the request is rejected with 412. */
          readonly ifMatch?: string | number | undefined;
        },
      ): Promise<UpdateTriggerAnswer> =>
        send.data<UpdateTriggerAnswer>(
          {
            method: "PATCH",
            path: "/agents/{agent_id}/triggers/{trigger_id}",
            params: [agentId, triggerId],
            body,
            headers: { "If-Match": options?.ifMatch },
          },
          options,
        ),

      /** Delete trigger. Its URL stops at once. Runs that it started continue. Its received requests can no longer be read; they are deleted within minutes or hours. Needs the scope `triggers:write`. */
      delete: (
        agentId: string,
        triggerId: string,
        options?: CallOptions & {
          /** The version that you have read: the value of `ETag`. If it is no longer the current version, the request is rejected with 412. */
          readonly ifMatch?: string | number | undefined;
        },
      ): Promise<void> =>
        send.nothing(
          {
            method: "DELETE",
            path: "/agents/{agent_id}/triggers/{trigger_id}",
            params: [agentId, triggerId],
            headers: { "If-Match": options?.ifMatch },
          },
          options,
        ),

      /** Rotate trigger URL. Issues a new URL. The previous one stays valid for `grace_seconds`, 0 by default. A URL that an earlier rotation replaced stops at once, even in its grace period. Needs the scope `triggers:write`. */
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

      /** Test trigger. Starts a run as a fire with this payload would, without the trigger's URL and without verification. A string is sent as text, all else as JSON, unless `content_type` says otherwise. With `request` the run is made of a received request or of an example of a preset. 409 `conflict` if the trigger's filter does not let it pass. The audit log records the test. Without the scope `runs:read`, `input` in the response is empty and `output` null. Needs the scopes `triggers:write` and `agents:invoke`. */
      test: (
        agentId: string,
        triggerId: string,
        body?: TestTriggerBody,
        options?: OnceOptions,
      ): Promise<Run> =>
        send.data<Run>(
          {
            method: "POST",
            path: "/agents/{agent_id}/triggers/{trigger_id}/test",
            params: [agentId, triggerId],
            body,
            once: true,
          },
          options,
        ),

      /** Reveal trigger URL. The audit log records the reveal. Needs the scope `triggers:write`. */
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

      /** Set sender secret. Sets the secret that the sender signs with or sends, or generates one. With `grace_seconds`, requests with the previous secret are also accepted for that time. Needs the scope `triggers:write`. */
      setSecret: (
        agentId: string,
        triggerId: string,
        body?: SetTriggerSecretBody,
        options?: OnceOptions,
      ): Promise<SetTriggerSecretAnswer> =>
        send.data<SetTriggerSecretAnswer>(
          {
            method: "POST",
            path: "/agents/{agent_id}/triggers/{trigger_id}/secret",
            params: [agentId, triggerId],
            body,
            once: true,
          },
          options,
        ),

      /** Reveal sender secret. 404 if no secret is set. The audit log records the reveal. Needs the scope `triggers:write`. */
      revealSecret: (
        agentId: string,
        triggerId: string,
        options?: CallOptions,
      ): Promise<RevealTriggerSecretAnswer> =>
        send.data<RevealTriggerSecretAnswer>(
          {
            method: "GET",
            path: "/agents/{agent_id}/triggers/{trigger_id}/secret",
            params: [agentId, triggerId],
          },
          options,
        ),

      /** Listen for sample. Captures the next verified request: it is stored, can be replayed, and starts no run. The sender gets 202; 200 with the presets `dropbox`, `linear` and `meta`, with the verification `twilio`, and for forms with the preset `slack`; 303 or 200 if `form.answer` is set. Listening ends with that request or after `seconds`. 409 if the trigger has no `receiving`. Needs the scope `triggers:write`. */
      listen: (
        agentId: string,
        triggerId: string,
        body?: ListenTriggerBody,
        options?: OnceOptions,
      ): Promise<Trigger> =>
        send.data<Trigger>(
          {
            method: "POST",
            path: "/agents/{agent_id}/triggers/{trigger_id}/listen",
            params: [agentId, triggerId],
            body,
            once: true,
          },
          options,
        ),

      /** Stop listening. Has no effect if the trigger does not listen. Needs the scope `triggers:write`. */
      stopListening: (agentId: string, triggerId: string, options?: CallOptions): Promise<void> =>
        send.nothing(
          {
            method: "DELETE",
            path: "/agents/{agent_id}/triggers/{trigger_id}/listen",
            params: [agentId, triggerId],
          },
          options,
        ),

      /** List received requests. Requests that the trigger received, also those that started no run. With both filters, each page searches a limited number of requests: it can hold fewer than `limit`, even none, and still have a `next`. Requests are kept for 30 days unless the operator has set another time. While a trigger has no `receiving`, none are stored: each of its requests is a run, `GET /runs?trigger_id=…`, and rejected ones are not kept. Of `rejected`, `invalid_signature`, `repeated`, `honeypot` and `swallowed` requests, the first 60 a minute of each outcome are stored; rejected ones that were verified are counted apart from those that were not. The `error` of a `mapping_error` can contain values of the request: without the scope `runs:read` it is null. Needs the scope `triggers:read`. Reads further pages as they are needed. */
      listRequests: (
        agentId: string,
        triggerId: string,
        query?: ListTriggerRequestsQuery,
        options?: CallOptions,
      ): Listing<ReceivedRequest> =>
        send.list<ReceivedRequest>(
          {
            method: "GET",
            path: "/agents/{agent_id}/triggers/{trigger_id}/requests",
            params: [agentId, triggerId],
            query,
          },
          options,
        ),

      /** Replay received requests. Starts runs of the requests that arrived in a range of time, at most the newest 1,000, in the order of their arrival. Of the requests with one event id, the newest is replayed. If the event has a run already, or a replay of the request has started one, the request is replayed only if its outcome is `started` or `held`. What the honeypot caught is replayed only if `outcome` asks for it. If `more` is true, continue with `until` set to `next_until`. Send an Idempotency-Key: a repeated call then starts no second run of a request. If an error ends the call, for example 429 `agent_busy`, its text says how many runs were started before. Needs the scopes `triggers:write` and `agents:invoke`. */
      replayRequests: (
        agentId: string,
        triggerId: string,
        body: ReplayTriggerRequestsBody,
        options?: OnceOptions,
      ): Promise<ReplayTriggerRequestsAnswer> =>
        send.data<ReplayTriggerRequestsAnswer>(
          {
            method: "POST",
            path: "/agents/{agent_id}/triggers/{trigger_id}/requests/replay",
            params: [agentId, triggerId],
            body,
            once: true,
          },
          options,
        ),

      /** Get received request. The request with its query, headers and body. Headers with credentials and signatures are left out, as is the header with which the trigger's saved settings verify requests. Needs the scopes `triggers:read` and `runs:read`. */
      getRequest: (
        agentId: string,
        triggerId: string,
        requestId: string,
        options?: CallOptions,
      ): Promise<ReceivedRequestDetails> =>
        send.data<ReceivedRequestDetails>(
          {
            method: "GET",
            path: "/agents/{agent_id}/triggers/{trigger_id}/requests/{request_id}",
            params: [agentId, triggerId, requestId],
          },
          options,
        ),

      /** Delete received request. Deletes the request with its query, headers and body. Its run is not deleted; if its event has a run, the event starts no second one. Needs the scope `triggers:write`. */
      deleteRequest: (
        agentId: string,
        triggerId: string,
        requestId: string,
        options?: CallOptions,
      ): Promise<void> =>
        send.nothing(
          {
            method: "DELETE",
            path: "/agents/{agent_id}/triggers/{trigger_id}/requests/{request_id}",
            params: [agentId, triggerId, requestId],
          },
          options,
        ),

      /** Replay received request. Starts a run of the request again, with the trigger's present settings. The replay is a received request of its own. If its event has no run yet, the event id is bound to the new run, so that the sender's next attempt starts no second one. 409 `conflict` if the content of the request, or with `version: original` the agent's version, is not stored, or if the filter does not let it pass. Without the scope `runs:read`, `input` in the response is empty and `output` null, and a `mapping_error` does not say why. Needs the scopes `triggers:write` and `agents:invoke`. */
      replayRequest: (
        agentId: string,
        triggerId: string,
        requestId: string,
        body?: ReplayTriggerRequestBody,
        options?: OnceOptions,
      ): Promise<Run> =>
        send.data<Run>(
          {
            method: "POST",
            path: "/agents/{agent_id}/triggers/{trigger_id}/requests/{request_id}/replay",
            params: [agentId, triggerId, requestId],
            body,
            once: true,
          },
          options,
        ),

      /** Preview trigger. Shows what the trigger makes of a request: the event, whether the filter lets it pass, and the input that the model would see, in its parts. Nothing is stored and no run starts. `receiving` and `prompt_prefix` replace the trigger's, so that settings can be tried before they are saved. A received request also needs the scope `runs:read`. Needs the scope `triggers:read`. */
      preview: (
        agentId: string,
        triggerId: string,
        body: PreviewTriggerBody,
        options?: CallOptions,
      ): Promise<TriggerPreview> =>
        send.data<TriggerPreview>(
          {
            method: "POST",
            path: "/agents/{agent_id}/triggers/{trigger_id}/preview",
            params: [agentId, triggerId],
            body,
          },
          options,
        ),
    },
    versions: {
      /** List agent versions. Needs the scope `agents:read`. Reads further pages as they are needed. */
      list: (
        agentId: string,
        query?: ListAgentVersionsQuery,
        options?: CallOptions,
      ): Listing<AgentVersionEntry> =>
        send.list<AgentVersionEntry>(
          { method: "GET", path: "/agents/{agent_id}/versions", params: [agentId], query },
          options,
        ),

      /** Get agent version. Needs the scope `agents:read`. */
      get: (
        agentId: string,
        version: number | string,
        options?: CallOptions,
      ): Promise<AgentVersion> =>
        send.data<AgentVersion>(
          {
            method: "GET",
            path: "/agents/{agent_id}/versions/{version}",
            params: [agentId, version],
          },
          options,
        ),

      /** Compare agent versions. Lists what changed from this version to the version `with`, by default the current one. `/provider_id` differs if the versions use different providers, even with the same model. Arrays are compared by position, but tools and their functions by name, unless their order has changed. `path` has their indexes in the later list, and for one that was removed its index in the earlier list. Needs the scope `agents:read`. */
      compare: (
        agentId: string,
        version: number | string,
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

      /** Restore agent version. Creates the agent's next version, equal to this one. Fails if its provider or a secret of its tools was deleted, or if it used the operator's provider and the workspace now has its own of that name. Secrets to which this version does not refer are deleted. Needs the scope `agents:write`. */
      restore: (
        agentId: string,
        version: number | string,
        options?: OnceOptions & {
          /** The version that you have read: the value of `ETag`. If it is no longer the current version, the request is rejected with 412. */
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
    triggerPresets: {
      /** List trigger presets. Settings for the services that send webhooks, to be set as `receiving` of a trigger, with what to enter where, and example requests. The list has one page. Needs the scope `triggers:read`. Reads further pages as they are needed. */
      list: (options?: CallOptions): Listing<TriggerPreset> =>
        send.list<TriggerPreset>({ method: "GET", path: "/trigger-presets" }, options),
    },
    runs: {
      /** List runs. All filters apply together. `created_after` is inclusive, `created_before` exclusive; `error` matches part of the error's code or message, `text` part of the first 65,536 characters of the input or output, both regardless of case; `external_id` and `tag` match exactly. Each page searches a limited number of runs: it can hold fewer than `limit`, even none, and still have a `next`. The search is complete when `next` is null. With `view=summary`, `input` and `output` are their first 200 characters, and `input_bytes` and `output_bytes` the sizes of the whole ones; `GET /runs/:run_id` returns those. A page whose first run alone is larger than the server's memory for a response gets `too_large`: send the same `after` with `view=summary&limit=1`, and continue with its `next`. Needs the scope `runs:read`. Reads further pages as they are needed. */
      list: (query?: ListRunsQuery, options?: CallOptions): Listing<ListedRun> =>
        send.list<ListedRun>({ method: "GET", path: "/runs", query }, options),

      /** List agent runs. All filters apply together. `created_after` is inclusive, `created_before` exclusive; `error` matches part of the error's code or message, `text` part of the first 65,536 characters of the input or output, both regardless of case; `external_id` and `tag` match exactly. Each page searches a limited number of runs: it can hold fewer than `limit`, even none, and still have a `next`. The search is complete when `next` is null. With `view=summary`, `input` and `output` are their first 200 characters, and `input_bytes` and `output_bytes` the sizes of the whole ones; `GET /runs/:run_id` returns those. A page whose first run alone is larger than the server's memory for a response gets `too_large`: send the same `after` with `view=summary&limit=1`, and continue with its `next`. Needs the scope `runs:read`. Reads further pages as they are needed. */
      listForAgent: (
        agentId: string,
        query?: ListAgentRunsQuery,
        options?: CallOptions,
      ): Listing<ListedRun> =>
        send.list<ListedRun>(
          { method: "GET", path: "/agents/{agent_id}/runs", params: [agentId], query },
          options,
        ),

      /** Get run statistics. Counts, durations, tokens and cost of the runs that match the filter, which is that of the list. Draft runs are not counted. `total` is that of all runs together. There is one group for each `bucket` of time and, with `group_by=agent`, for each agent; groups without runs are left out. Without both, there is one group. The time range is the hour before now with `bucket=minute`, 30 days with `bucket=day` and otherwise a day, unless `created_after` and `created_before` say another: at most 1 day with `minute`, 31 days with `hour`, 366 days otherwise. At most 100,000 runs can be in it, and statistics that take longer than 3 seconds, or than their request has left, are rejected: shorten the range, or name one agent. Tokens and cost are those of runs that have ended. Needs the scope `runs:read`. */
      getStats: (query?: GetRunStatsQuery, options?: CallOptions): Promise<RunStats> =>
        send.data<RunStats>({ method: "GET", path: "/runs/stats", query }, options),

      /** Get run. A run has ended when `finished_at` is set. `output` is the text of the model's last response or, if that is blank, the last text of an earlier step. If the response is `too_large`, read the output in parts: the artifact that the run's final event names. Needs the scope `runs:read`. */
      get: (runId: string, options?: CallOptions): Promise<Run> =>
        send.data<Run>({ method: "GET", path: "/runs/{run_id}", params: [runId] }, options),

      /** Delete run. Deletes a run that has ended, with its journal and files. A repeat of the request that started it, with the same Idempotency-Key, still starts nothing. Needs the scope `runs:write`. */
      delete: (runId: string, options?: CallOptions): Promise<void> =>
        send.nothing({ method: "DELETE", path: "/runs/{run_id}", params: [runId] }, options),

      /** Cancel run. A queued run ends at once, a running one as soon as it can be stopped. A run that has ended is not changed. Without the scope `runs:read`, `input` in the response is empty and `output` null. Needs the scope `runs:write`. */
      cancel: (runId: string, options?: CallOptions): Promise<Run> =>
        send.data<Run>({ method: "POST", path: "/runs/{run_id}/cancel", params: [runId] }, options),

      /** Cancel runs in bulk. Cancels each run like the single operation. Runs that start after the request, or are being cancelled, are not changed. Select the runs by a `filter` as in a list, or by `all: true`. One request changes a limited number: while `next` is not null, repeat it with `next` as `after`. Needs the scope `runs:write`. */
      cancelMany: (body: CancelRunsBody, options?: OnceOptions): Promise<CancelRunsAnswer> =>
        send.data<CancelRunsAnswer>(
          { method: "POST", path: "/runs/cancel", body, once: true },
          options,
        ),

      /** Retry run. Starts a new run with the payload of a run that has ended, on the agent's current version or, with `version: original`, on the version of that run. `input` replaces the whole input, also a trigger's prompt prefix, and also needs the scope `agents:invoke`. A run with the error `mapping_error` can only be retried with `input`, else the response is 409: replay its request instead. If a limit failed the run when it was created, and its sender has started a run of the same event meanwhile, the response has that run, or is 409 if that run was deleted: retry with `input`. Files of the run that the input names, such as those of a form, are copied, and their ids in the input replaced. A draft run is retried with its own configuration, which also needs the scopes `agents:write` and `agents:invoke`. The new run has `retry_of`, and the same `source`, `external_id` and `tags`. Without the scope `runs:read`, `input` in the response is empty and `output` null. Needs the scope `runs:write`. */
      retry: (runId: string, body?: RetryRunBody, options?: OnceOptions): Promise<Run> =>
        send.data<Run>(
          { method: "POST", path: "/runs/{run_id}/retry", params: [runId], body, once: true },
          options,
        ),

      /** Delete runs in bulk. Deletes each run like the single operation. Runs that have not ended are not changed. Select the runs by a `filter` as in a list, or by `all: true`. One request changes a limited number: while `next` is not null, repeat it with `next` as `after`. Needs the scope `runs:write`. */
      deleteMany: (body: DeleteRunsBody, options?: OnceOptions): Promise<DeleteRunsAnswer> =>
        send.data<DeleteRunsAnswer>(
          { method: "POST", path: "/runs/delete", body, once: true },
          options,
        ),

      /** List run events. The run's journal, oldest first. `after` is the last `seq` that you have. A page of large events has fewer than `limit`; the journal is complete when `next` is null. With `view=summary`, `data` has no `arguments`, `result` or `output`, and each of its `parts` has `bytes` instead of text or arguments. To read one event without this, get `/runs/:run_id/events/:seq`. In both views, `data` above 64 KiB has `artifact_id` and `bytes` in place of its large fields: get the whole data, in JSON, at `/runs/:run_id/artifacts/:artifact_id`. Needs the scope `runs:read`. Reads further pages as they are needed. */
      listEvents: (
        runId: string,
        query?: ListRunEventsQuery,
        options?: CallOptions,
      ): Listing<JournalEvent> =>
        send.list<JournalEvent>(
          {
            method: "GET",
            path: "/runs/{run_id}/events",
            params: [runId],
            query,
            accept: "application/json",
          },
          options,
        ),

      /** Get run event. One event of the run's journal, for example to verify a delivery. `data` above 64 KiB has `artifact_id` and `bytes` in place of its large fields: get the whole data, in JSON, at `/runs/:run_id/artifacts/:artifact_id`. Needs the scope `runs:read`. */
      getEvent: (
        runId: string,
        seq: number | string,
        options?: CallOptions,
      ): Promise<JournalEvent> =>
        send.data<JournalEvent>(
          { method: "GET", path: "/runs/{run_id}/events/{seq}", params: [runId, seq] },
          options,
        ),
    },
    artifacts: {
      /** Get run artifact. A file of the run. The whole `data` of an event above 64 KiB is an artifact in JSON: the event has `artifact_id` and `bytes` in place of its large fields. JSON, plain text and images are sent with their media type, all else as `application/octet-stream`. Needs the scope `runs:read`. */
      get: (runId: string, artifactId: string, options?: CallOptions): Promise<Blob> =>
        send.bytes(
          {
            method: "GET",
            path: "/runs/{run_id}/artifacts/{artifact_id}",
            params: [runId, artifactId],
          },
          options,
        ),
    },
    deliveries: {
      /** List run deliveries. What was delivered about a run, to all subscriptions. Needs the scopes `subscriptions:read` and `runs:read`. Reads further pages as they are needed. */
      listForRun: (
        runId: string,
        query?: ListRunDeliveriesQuery,
        options?: CallOptions,
      ): Listing<Delivery> =>
        send.list<Delivery>(
          { method: "GET", path: "/runs/{run_id}/deliveries", params: [runId], query },
          options,
        ),

      /** List deliveries. All filters apply together. Each page searches a limited number of deliveries: it can hold fewer than `limit`, even none, and still have a `next`. Deliveries are kept for 30 days unless the operator has set another time. Needs the scope `subscriptions:read`. Reads further pages as they are needed. */
      list: (
        subscriptionId: string,
        query?: ListDeliveriesQuery,
        options?: CallOptions,
      ): Listing<Delivery> =>
        send.list<Delivery>(
          {
            method: "GET",
            path: "/subscriptions/{subscription_id}/deliveries",
            params: [subscriptionId],
            query,
          },
          options,
        ),

      /** Get delivery. The delivery with the body that is sent and its last 50 attempts. Extra headers and signatures are not stored with attempts. Without `runs:read`, `body` is null and each `response_body` is empty. Needs the scope `subscriptions:read`. */
      get: (
        subscriptionId: string,
        deliveryId: string,
        options?: CallOptions,
      ): Promise<DeliveryDetails> =>
        send.data<DeliveryDetails>(
          {
            method: "GET",
            path: "/subscriptions/{subscription_id}/deliveries/{delivery_id}",
            params: [subscriptionId, deliveryId],
          },
          options,
        ),

      /** Replay delivery. Sends a delivery again at once, whatever its status is, with the same `webhook-id`. An attempt that is in progress continues and counts as the first one, so the delivery is sent again only if it fails. Events wait for the end of a delay that the receiver has requested with 429 or 503. 409 if its run was deleted. Needs the scope `subscriptions:write`. */
      replay: (
        subscriptionId: string,
        deliveryId: string,
        options?: OnceOptions,
      ): Promise<Delivery> =>
        send.data<Delivery>(
          {
            method: "POST",
            path: "/subscriptions/{subscription_id}/deliveries/{delivery_id}/replay",
            params: [subscriptionId, deliveryId],
            once: true,
          },
          options,
        ),
    },
    events: {
      /** List workspace events. The events of the workspace or of one agent, oldest first. Their order never changes, and those of a run are in the order of their `seq`; `time` does not always ascend. Each page searches up to `limit` events, fewer if their data is large, and holds those that match. Continue until `next` is null. Each event has a `cursor` to continue after it. Events of deleted runs are missing, so a cursor that is older than the retention of runs can skip some. Events of no run (`agent.paused`, `agent.resumed`, `usage.threshold`, `subscription.disabled`) are listed only if `kind` names them; their `run_id` and `seq` are null. An agent's token cannot name them. With `view=summary`, `data` has no `arguments`, `result` or `output`, and each of its `parts` has `bytes` instead of text or arguments. To read one event without this, get `/runs/:run_id/events/:seq`. In both views, `data` above 64 KiB has `artifact_id` and `bytes` in place of its large fields: get the whole data, in JSON, at `/runs/:run_id/artifacts/:artifact_id`. With `merge=true`, an event that ends a run can replace the run's earlier events that are read at the same time, except `run.queued` and `run.waiting`; it then has `merged`, with `seq`, `type` and `time` of the first of them. After a resume, the first events can be missing from the stream and from `merged`: read the run for its times. Needs the scope `runs:read`. Reads further pages as they are needed. */
      list: (query?: ListEventsQuery, options?: CallOptions): Listing<WorkspaceEvent> =>
        send.list<WorkspaceEvent>(
          { method: "GET", path: "/events", query, accept: "application/json" },
          options,
        ),

      /** Get workspace event. An event of no run, for example to verify a delivery. Events of runs are at `/runs/:run_id/events/:seq`. Needs the scope `runs:read`. */
      get: (eventId: string, options?: CallOptions): Promise<WorkspaceEvent> =>
        send.data<WorkspaceEvent>(
          { method: "GET", path: "/events/{event_id}", params: [eventId] },
          options,
        ),
    },
    subscriptions: {
      /** Create subscription. Delivers events to `url`, signed with `secret` as in Standard Webhooks. The response shows the secret; it can be revealed later. A workspace has at most 50 subscriptions. A key needs `runs:read` too, unless `payload` is `thin`. Needs the scope `subscriptions:write`. */
      create: (
        body: CreateSubscriptionBody,
        options?: OnceOptions,
      ): Promise<CreateSubscriptionAnswer> =>
        send.data<CreateSubscriptionAnswer>(
          { method: "POST", path: "/subscriptions", body, once: true },
          options,
        ),

      /** List subscriptions. A key that is limited to agents sees and changes only subscriptions that are limited to some of these agents. Needs the scope `subscriptions:read`. Reads further pages as they are needed. */
      list: (query?: ListSubscriptionsQuery, options?: CallOptions): Listing<Subscription> =>
        send.list<Subscription>({ method: "GET", path: "/subscriptions", query }, options),

      /** Get subscription. Needs the scope `subscriptions:read`. */
      get: (subscriptionId: string, options?: CallOptions): Promise<Subscription> =>
        send.data<Subscription>(
          { method: "GET", path: "/subscriptions/{subscription_id}", params: [subscriptionId] },
          options,
        ),

      /** Update subscription. Later attempts use the new values, also those of earlier events. A `url` with another scheme, host or port needs `secret` in the same request and, if the subscription has extra headers, `headers`. If the payload is then `full`, a change of `payload`, `url`, `event_types`, `agent_ids`, `trigger_ids` or `tags` needs `runs:read` too. Needs the scope `subscriptions:write`. */
      update: (
        subscriptionId: string,
        body: UpdateSubscriptionBody,
        options?: CallOptions & {
          /** The version that you have read: the value of `ETag`. If it is no longer the current version, the request is rejected with 412. */
          readonly ifMatch?: string | number | undefined;
        },
      ): Promise<Subscription> =>
        send.data<Subscription>(
          {
            method: "PATCH",
            path: "/subscriptions/{subscription_id}",
            params: [subscriptionId],
            body,
            headers: { "If-Match": options?.ifMatch },
          },
          options,
        ),

      /** Delete subscription. Cancels its pending deliveries. Needs the scope `subscriptions:write`. */
      delete: (
        subscriptionId: string,
        options?: CallOptions & {
          /** The version that you have read: the value of `ETag`. If it is no longer the current version, the request is rejected with 412. */
          readonly ifMatch?: string | number | undefined;
        },
      ): Promise<void> =>
        send.nothing(
          {
            method: "DELETE",
            path: "/subscriptions/{subscription_id}",
            params: [subscriptionId],
            headers: { "If-Match": options?.ifMatch },
          },
          options,
        ),

      /** Pause subscription. Deliveries that are pending, and those of later events, get the status `not_sent`. They can be replayed. Needs the scope `subscriptions:write`. */
      pause: (subscriptionId: string, options?: OnceOptions): Promise<Subscription> =>
        send.data<Subscription>(
          {
            method: "POST",
            path: "/subscriptions/{subscription_id}/pause",
            params: [subscriptionId],
            once: true,
          },
          options,
        ),

      /** Resume subscription. Enables a subscription that was paused or disabled. Later events are delivered. `missed` says what was not: to send it, replay the deliveries since `missed.since`. Needs the scope `subscriptions:write`. */
      resume: (subscriptionId: string, options?: OnceOptions): Promise<ResumedSubscription> =>
        send.data<ResumedSubscription>(
          {
            method: "POST",
            path: "/subscriptions/{subscription_id}/resume",
            params: [subscriptionId],
            once: true,
          },
          options,
        ),

      /** Rotate signing secret. Replaces the secret. For `grace_seconds`, a day by default, deliveries have the signatures of both secrets. Needs the scope `subscriptions:write`. */
      rotateSecret: (
        subscriptionId: string,
        body?: RotateSubscriptionSecretBody,
        options?: OnceOptions,
      ): Promise<RotateSubscriptionSecretAnswer> =>
        send.data<RotateSubscriptionSecretAnswer>(
          {
            method: "POST",
            path: "/subscriptions/{subscription_id}/rotate",
            params: [subscriptionId],
            body,
            once: true,
          },
          options,
        ),

      /** Reveal signing secret. The audit log records the reveal. Needs the scope `subscriptions:write`. */
      revealSecret: (
        subscriptionId: string,
        options?: CallOptions,
      ): Promise<RevealSubscriptionSecretAnswer> =>
        send.data<RevealSubscriptionSecretAnswer>(
          {
            method: "GET",
            path: "/subscriptions/{subscription_id}/secret",
            params: [subscriptionId],
          },
          options,
        ),

      /** Test subscription. Delivers the documented example of an event, with `"test": true`. The ids of agent and run belong to nothing. `type` is by default the first of the subscription's `event_types`. Needs the scope `subscriptions:write`. */
      test: (
        subscriptionId: string,
        body?: TestSubscriptionBody,
        options?: OnceOptions,
      ): Promise<Delivery> =>
        send.data<Delivery>(
          {
            method: "POST",
            path: "/subscriptions/{subscription_id}/test",
            params: [subscriptionId],
            body,
            once: true,
          },
          options,
        ),

      /** Replay deliveries. Sends the deliveries of a range of time again, with the same `webhook-id`: by default those that wait for their next attempt after a failed one, failed or were not sent, newest first. All attempts start over. An attempt that is in progress continues. At most 10,000 a request, of the newest 100,000 in the range; while `more` is true, repeat it with `next_until` as `until`, also if nothing was replayed. Tests, and deliveries of deleted runs, are left out. 409 if 50,000 deliveries are pending and the newest one of the range has ended. Needs the scope `subscriptions:write`. */
      replayDeliveries: (
        subscriptionId: string,
        body: ReplayDeliveriesBody,
        options?: OnceOptions,
      ): Promise<ReplayDeliveriesAnswer> =>
        send.data<ReplayDeliveriesAnswer>(
          {
            method: "POST",
            path: "/subscriptions/{subscription_id}/replay",
            params: [subscriptionId],
            body,
            once: true,
          },
          options,
        ),
    },
    providers: {
      /** Create provider. The host of base_url must be public, unless the operator of Beckon names it in BECKON_EGRESS_ALLOW. `free` needs `limits:write` as well. Needs the scope `providers:write`. */
      create: (body: CreateProviderBody, options?: OnceOptions): Promise<Provider> =>
        send.data<Provider>({ method: "POST", path: "/providers", body, once: true }, options),

      /** List providers. The workspace's own, then the operator's: accounts of the environment, and model servers found on Beckon's machine. Needs the scope `providers:read`. Reads further pages as they are needed. */
      list: (query?: ListProvidersQuery, options?: CallOptions): Listing<Provider> =>
        send.list<Provider>({ method: "GET", path: "/providers", query }, options),

      /** Get provider. Needs the scope `providers:read`. */
      get: (providerId: string, options?: CallOptions): Promise<Provider> =>
        send.data<Provider>(
          { method: "GET", path: "/providers/{provider_id}", params: [providerId] },
          options,
        ),

      /** Update provider. null removes the key, or restores the default address of the kind. If a key is stored, a `base_url` of another origin (scheme, host, port) needs `api_key` in the same request: a key is sent only to the origin for which it was set. A change of `free`, or of the `base_url` of a provider that is free or has prices, needs `limits:write` as well. Needs the scope `providers:write`. */
      update: (
        providerId: string,
        body: UpdateProviderBody,
        options?: CallOptions,
      ): Promise<Provider> =>
        send.data<Provider>(
          { method: "PATCH", path: "/providers/{provider_id}", params: [providerId], body },
          options,
        ),

      /** Delete provider. Fails while an agent uses the provider, and for a provider of the operator. Deletes the prices of its models too. Needs the scope `providers:write`. */
      delete: (providerId: string, options?: CallOptions): Promise<void> =>
        send.nothing(
          { method: "DELETE", path: "/providers/{provider_id}", params: [providerId] },
          options,
        ),

      /** Check provider. Requests the provider's list of models to test its address and key. Changes nothing. A model server of Beckon's machine is requested at most every 30 seconds. Needs the scope `providers:write`. */
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
    prices: {
      /** Set price. Sets the price of a model of one of the workspace's own providers, in micro-dollars for 1,000,000 tokens. It applies to runs that start or resume afterwards. Only the operator sets prices for the operator's providers. Needs the scope `limits:write`. */
      create: (body: CreatePriceBody, options?: OnceOptions): Promise<ModelPrice> =>
        send.data<ModelPrice>({ method: "POST", path: "/prices", body, once: true }, options),

      /** List prices. What the models cost that agents use, and those for which the workspace set a price, in the order of their names. Needs the scope `providers:read`. Reads further pages as they are needed. */
      list: (query?: ListPricesQuery, options?: CallOptions): Listing<ModelPrice> =>
        send.list<ModelPrice>({ method: "GET", path: "/prices", query }, options),

      /** Get price. Needs the scope `providers:read`. */
      get: (priceId: string, options?: CallOptions): Promise<ModelPrice> =>
        send.data<ModelPrice>(
          { method: "GET", path: "/prices/{price_id}", params: [priceId] },
          options,
        ),

      /** Update price. null as the price of cached input or of cache writes means the price of input. Costs that were recorded stay. Needs the scope `limits:write`. */
      update: (
        priceId: string,
        body: UpdatePriceBody,
        options?: CallOptions,
      ): Promise<ModelPrice> =>
        send.data<ModelPrice>(
          { method: "PATCH", path: "/prices/{price_id}", params: [priceId], body },
          options,
        ),

      /** Delete price. The model then has the price that applies without it. Needs the scope `limits:write`. */
      delete: (priceId: string, options?: CallOptions): Promise<void> =>
        send.nothing({ method: "DELETE", path: "/prices/{price_id}", params: [priceId] }, options),
    },
    tools: {
      /** Import HTTP tool. Converts an OpenAPI document to an HTTP tool. Stores and calls nothing: add the secrets and put the tool into an agent. Needs the scope `agents:write`. */
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
      /** Create key. Only this response shows the secret, `key`. Send `scopes` or a `preset`. Together with `agent_ids`, a preset grants only those of its scopes that a key limited to agents can have. The key expires after 90 days unless `expires_in_days` says otherwise; null means never. You cannot grant scopes that you do not have. A key that expires cannot create one that expires later; without a given expiry, the new key expires with it if that is before 90 days. Needs the scope `keys:write`. */
      create: (body: CreateKeyBody, options?: OnceOptions): Promise<CreateKeyAnswer> =>
        send.data<CreateKeyAnswer>({ method: "POST", path: "/keys", body, once: true }, options),

      /** List keys. Needs the scope `keys:read`. Reads further pages as they are needed. */
      list: (query?: ListKeysQuery, options?: CallOptions): Listing<Key> =>
        send.list<Key>({ method: "GET", path: "/keys", query }, options),

      /** Get key. Needs the scope `keys:read`. */
      get: (keyId: string, options?: CallOptions): Promise<Key> =>
        send.data<Key>({ method: "GET", path: "/keys/{key_id}", params: [keyId] }, options),

      /** Update key. Takes effect with the response. Needs the scope `keys:write`. */
      update: (keyId: string, body: UpdateKeyBody, options?: CallOptions): Promise<Key> =>
        send.data<Key>({ method: "PATCH", path: "/keys/{key_id}", params: [keyId], body }, options),

      /** Revoke key. Takes effect with the response. Needs the scope `keys:write`. */
      delete: (keyId: string, options?: CallOptions): Promise<void> =>
        send.nothing({ method: "DELETE", path: "/keys/{key_id}", params: [keyId] }, options),

      /** Rotate key. Issues a new secret. The previous one stays valid for `grace_seconds`: by default 300 if the key rotates itself, so that it can repeat the call with the same `Idempotency-Key` if the response is lost, else 0. Send 0 if the key has leaked. A secret that an earlier rotation replaced stops at once, even in its grace period. Needs the scope `keys:write`. */
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
    usage: {
      /** Get usage. What was used and what it cost, from the usage ledger: it has an entry for every call that was sent to a model, also of draft runs, failed runs and deleted runs. There is a row for each combination of the groups in `group_by`, sorted by these; groups without entries are left out. `totals` are the sums over all rows of all pages. `cost_micros` is the sum of the known costs, and `unknown_cost_entries` counts the entries that have none. By default the report has the last 30 days, by day. A day is the local date at the time of the entry, also if the workspace's time zone changed since. With `group_by=hour` or `tag`, the filter `tag`, or times in `from` and `to`, the range can be at most 31 days. An entry of a run with several tags is in the row of each. A report that takes longer than 3 seconds, or than its request has left, is rejected: shorten the range or, unless its range can be at most 31 days, name one agent. With `format=csv` the response is a file with all rows, at most 50,000. A key that is limited to agents gets the usage of these agents. Needs the scope `usage:read`. */
      get: (query?: GetUsageQuery, options?: CallOptions): Promise<UsageReport> =>
        send.data<UsageReport>(
          {
            method: "GET",
            path: "/usage",
            query: { ...query, format: "json" },
            accept: "application/json",
          },
          options,
        ),

      /** Get usage. What was used and what it cost, from the usage ledger: it has an entry for every call that was sent to a model, also of draft runs, failed runs and deleted runs. There is a row for each combination of the groups in `group_by`, sorted by these; groups without entries are left out. `totals` are the sums over all rows of all pages. `cost_micros` is the sum of the known costs, and `unknown_cost_entries` counts the entries that have none. By default the report has the last 30 days, by day. A day is the local date at the time of the entry, also if the workspace's time zone changed since. With `group_by=hour` or `tag`, the filter `tag`, or times in `from` and `to`, the range can be at most 31 days. An entry of a run with several tags is in the row of each. A report that takes longer than 3 seconds, or than its request has left, is rejected: shorten the range or, unless its range can be at most 31 days, name one agent. With `format=csv` the response is a file with all rows, at most 50,000. A key that is limited to agents gets the usage of these agents. Needs the scope `usage:read`. */
      getCsv: (query?: GetUsageQuery, options?: CallOptions): Promise<string> =>
        send.text(
          { method: "GET", path: "/usage", query: { ...query, format: "csv" }, accept: "text/csv" },
          options,
        ),
    },
    limits: {
      /** List ceilings. The daily ceilings: that of the workspace, then those of its agents, keys and triggers. A key that is limited to agents gets those of these agents, of their triggers and of itself. Needs the scope `usage:read`. Reads further pages as they are needed. */
      list: (query?: ListLimitsQuery, options?: CallOptions): Listing<Ceiling> =>
        send.list<Ceiling>({ method: "GET", path: "/limits", query }, options),

      /** Get ceiling. Needs the scope `usage:read`. */
      get: (scope: string, scopeId: string, options?: CallOptions): Promise<Ceiling> =>
        send.data<Ceiling>(
          { method: "GET", path: "/limits/{scope}/{scope_id}", params: [scope, scopeId] },
          options,
        ),

      /** Set ceiling. Sets how much the runs of the workspace, or of an agent, a key or a trigger, can cost per day. The day is a date in the workspace's time zone; what was spent since its start counts. A higher ceiling lets waiting runs continue at once, a lower one applies to the next model call. Ceilings do not belong to the agent's versions. Needs the scope `limits:write`. */
      set: (
        scope: string,
        scopeId: string,
        body: SetLimitBody,
        options?: CallOptions,
      ): Promise<Ceiling> =>
        send.data<Ceiling>(
          { method: "PUT", path: "/limits/{scope}/{scope_id}", params: [scope, scopeId], body },
          options,
        ),

      /** Delete ceiling. Waiting runs continue at once. Needs the scope `limits:write`. */
      delete: (scope: string, scopeId: string, options?: CallOptions): Promise<void> =>
        send.nothing(
          { method: "DELETE", path: "/limits/{scope}/{scope_id}", params: [scope, scopeId] },
          options,
        ),
    },
    plan: {
      /** Get plan of the workspace. The workspace's plan, and for each metric what it allows in the present month, what was used and what is reserved for calls that are made now. Not for keys that are limited to agents. Needs the scope `usage:read`. */
      getUsage: (options?: CallOptions): Promise<PlanUsage> =>
        send.data<PlanUsage>({ method: "GET", path: "/plan" }, options),
    },
    plans: {
      /** List plans. In the order of their names: the built-in plan `unlimited`, those of the operator's file and those that were created here. Only in the workspace `default`. Needs the scope `plans:write`. Reads further pages as they are needed. */
      list: (query?: ListPlansQuery, options?: CallOptions): Listing<Plan> =>
        send.list<Plan>({ method: "GET", path: "/plans", query }, options),

      /** Create plan. An allowance that is absent or null is unlimited. Only in the workspace `default`. Needs the scope `plans:write`. */
      create: (body: CreatePlanBody, options?: OnceOptions): Promise<Plan> =>
        send.data<Plan>({ method: "POST", path: "/plans", body, once: true }, options),

      /** Get plan. Needs the scope `plans:write`. */
      get: (planId: string, options?: CallOptions): Promise<Plan> =>
        send.data<Plan>({ method: "GET", path: "/plans/{plan_id}", params: [planId] }, options),

      /** Update plan. Applies at once to all workspaces that are on the plan. Needs the scope `plans:write`. */
      update: (planId: string, body: UpdatePlanBody, options?: CallOptions): Promise<Plan> =>
        send.data<Plan>(
          { method: "PATCH", path: "/plans/{plan_id}", params: [planId], body },
          options,
        ),

      /** Delete plan. Only if no workspace is on the plan or changes to it. Needs the scope `plans:write`. */
      delete: (planId: string, options?: CallOptions): Promise<void> =>
        send.nothing({ method: "DELETE", path: "/plans/{plan_id}", params: [planId] }, options),
    },
    workspacePlans: {
      /** List plans of workspaces. All workspaces with their plans, newest first. Only in the workspace `default`. Needs the scope `plans:write`. Reads further pages as they are needed. */
      list: (query?: ListWorkspacePlansQuery, options?: CallOptions): Listing<WorkspacePlan> =>
        send.list<WorkspacePlan>({ method: "GET", path: "/workspace-plans", query }, options),

      /** Set plan of a workspace. At once, or with `takes_effect: period_end` when the month of the present plan ends. What was used since the start of the month counts. A plan that takes effect at once cancels a planned change. Only in the workspace `default`. Needs the scope `plans:write`. */
      update: (
        targetWorkspaceId: string,
        body: UpdateWorkspacePlanBody,
        options?: CallOptions,
      ): Promise<WorkspacePlan> =>
        send.data<WorkspacePlan>(
          {
            method: "PATCH",
            path: "/workspace-plans/{target_workspace_id}",
            params: [targetWorkspaceId],
            body,
          },
          options,
        ),
    },
    audit: {
      /** List audit log. Every change and every reveal of a secret, newest first. With several of the filters `actor`, `action` and `target`, each page searches a limited number of entries: it can hold fewer than `limit`, even none, and still have a `next`. Needs the scope `audit:read`. Reads further pages as they are needed. */
      list: (query?: ListAuditQuery, options?: CallOptions): Listing<AuditEntry> =>
        send.list<AuditEntry>({ method: "GET", path: "/audit", query }, options),

      /** Export audit log. One entry per line as JSON Lines, newest first. Needs the scope `audit:read`. */
      export: (query?: ExportAuditQuery, options?: CallOptions): AsyncIterable<AuditEntry> =>
        send.lines<AuditEntry>({ method: "GET", path: "/audit/export", query }, options),
    },
    workspaces: {
      /** List workspaces. A session lists all workspaces of the member, a key its own one. Needs the scope `workspaces:read`. Reads further pages as they are needed. */
      list: (query?: ListWorkspacesQuery, options?: CallOptions): Listing<Workspace> =>
        send.list<Workspace>({ method: "GET", path: "/workspaces", query }, options),

      /** Create workspace. For owners and keys of the workspace `default`. A member who creates a workspace owns it. A key gets a key of its own kind in the new workspace, whose secret only this response shows. It expires when the key that created the workspace expires; before that, create another key. Only keys and members of the new workspace can read it at `Location`. Needs the scope `workspaces:own`. */
      create: (body: CreateWorkspaceBody, options?: OnceOptions): Promise<CreateWorkspaceAnswer> =>
        send.data<CreateWorkspaceAnswer>(
          { method: "POST", path: "/workspaces", body, once: true },
          options,
        ),

      /** Get workspace. Needs the scope `workspaces:read`. */
      get: (workspaceId: string, options?: CallOptions): Promise<Workspace> =>
        send.data<Workspace>(
          { method: "GET", path: "/workspaces/{workspace_id}", params: [workspaceId] },
          options,
        ),

      /** Update workspace. `run_retention_days` says for how many days runs are kept after they ended, with their events and artifacts: at least 7, at most `max_run_retention_days`. null: as long as the operator keeps runs. Older runs are deleted soon after a change. Needs the scope `workspaces:write`. */
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

      /** Update member role. Takes effect with the response. You cannot grant a role above your own, or change a member above you. Needs the scope `members:write`. */
      update: (userId: string, body: UpdateMemberBody, options?: CallOptions): Promise<Member> =>
        send.data<Member>(
          { method: "PATCH", path: "/members/{user_id}", params: [userId], body },
          options,
        ),

      /** Remove member. Takes effect with the response. Every member can leave by removing themselves, except the last owner. Needs the scope `members:write`. */
      remove: (userId: string, options?: CallOptions): Promise<void> =>
        send.nothing({ method: "DELETE", path: "/members/{user_id}", params: [userId] }, options),

      /** Create password reset link. The link works once, for 24 hours, and replaces the previous one. It stops if you lose the permission to create it, or if a membership or role of the member changes. The member must not be in a workspace that you do not own, unless you create the link as an owner or with a key of the workspace `default`, for a member of `default`. A session cannot create a link for its own person. Needs the scope `workspaces:own`. */
      createResetLink: (userId: string, options?: OnceOptions): Promise<CreateResetLinkAnswer> =>
        send.data<CreateResetLinkAnswer>(
          { method: "POST", path: "/members/{user_id}/reset-link", params: [userId], once: true },
          options,
        ),
    },
    invitations: {
      /** Create invitation. Only this response has the link, `url`: send it to the person. It works once, while you have the permission to create it. The e-mail is a label: the person who accepts chooses the account. You cannot invite to a role above your own. Needs the scope `members:write`. */
      create: (
        body: CreateInvitationBody,
        options?: OnceOptions,
      ): Promise<CreateInvitationAnswer> =>
        send.data<CreateInvitationAnswer>(
          { method: "POST", path: "/invitations", body, once: true },
          options,
        ),

      /** List invitations. Lists invitations that were not accepted. The link of one whose `valid` is false does not work: it has expired, or its issuer can no longer invite to this role. Needs the scope `members:read`. Reads further pages as they are needed. */
      list: (query?: ListInvitationsQuery, options?: CallOptions): Listing<Invitation> =>
        send.list<Invitation>({ method: "GET", path: "/invitations", query }, options),

      /** Revoke invitation. Its link stops at once. Needs the scope `members:write`. */
      delete: (invitationId: string, options?: CallOptions): Promise<void> =>
        send.nothing(
          { method: "DELETE", path: "/invitations/{invitation_id}", params: [invitationId] },
          options,
        ),

      /** Check invitation. Says what a valid invitation is for, and changes nothing. `inviter_name` is null if a key made the invitation. Needs no credential. */
      check: (body: CheckInvitationBody, options?: CallOptions): Promise<InvitationCheck> =>
        send.data<InvitationCheck>(
          { method: "POST", path: "/invitations/check", body, open: true },
          options,
        ),

      /** Accept invitation. Joins the workspace with an account that you choose: without `password` the one that is signed in, otherwise the one with this password and `email`, by default the invitation's. If there is none, send a `name` to create one. Several accounts can have the same e-mail, but not two members of one workspace: that is a 409. Needs no credential, or a session. */
      accept: (body: AcceptInvitationBody, options?: CallOptions): Promise<AcceptedInvitation> =>
        send.data<AcceptedInvitation>(
          { method: "POST", path: "/invitations/accept", body, open: true },
          options,
        ),
    },
    /** Set up first owner. Needs the token of the one-time link that Beckon prints at startup, a new one each time, until there is an owner. Needs no credential. */
    setUp: (body: SetUpBody, options?: CallOptions): Promise<User> =>
      send.data<User>({ method: "POST", path: "/setup", body, open: true }, options),

    /** Sign in. Sets the session cookie, which authenticates all routes except fires. A session expires 29 to 30 days after its last use, because it is extended at most once a day. Beyond the limit of failures from an address, no password is checked. Several accounts can have the same e-mail: send the `workspace_id` of a workspace of which you are a member; without it, the oldest four accounts are compared, and the oldest with your password signs in. With `preferred_workspace_id`, the account of this workspace is compared, too, and takes precedence. Needs no credential. */
    signIn: (body: SignInBody, options?: CallOptions): Promise<User> =>
      send.data<User>({ method: "POST", path: "/sign-in", body, open: true }, options),

    /** Sign out. Ends the session. Takes effect with the response. Needs a session. */
    signOut: (options?: CallOptions): Promise<void> =>
      send.nothing({ method: "POST", path: "/sign-out", open: true }, options),

    setup: {
      /** Check setup link. Says what a valid setup link is for, and changes nothing. Needs no credential. */
      check: (body: CheckSetupBody, options?: CallOptions): Promise<SetupCheck> =>
        send.data<SetupCheck>({ method: "POST", path: "/setup/check", body, open: true }, options),
    },
    me: {
      /** Get current user. With the role in each workspace, and the scopes of that role. Needs a session. */
      get: (options?: CallOptions): Promise<Me> =>
        send.data<Me>({ method: "GET", path: "/me", open: true }, options),

      /** Update current user. Needs a session. */
      update: (body: UpdateMeBody, options?: CallOptions): Promise<User> =>
        send.data<User>({ method: "PATCH", path: "/me", body, open: true }, options),
    },
    sessions: {
      /** List sessions. The sessions of the current user. Needs a session. Reads further pages as they are needed. */
      list: (query?: ListSessionsQuery, options?: CallOptions): Listing<Session> =>
        send.list<Session>({ method: "GET", path: "/sessions", query, open: true }, options),

      /** Revoke other sessions. Ends all sessions of the current user except this one. Needs a session. */
      revokeOther: (options?: CallOptions): Promise<void> =>
        send.nothing({ method: "DELETE", path: "/sessions", open: true }, options),

      /** Revoke session. Ends one session of the current user. Needs a session. */
      revoke: (sessionId: string, options?: CallOptions): Promise<void> =>
        send.nothing(
          { method: "DELETE", path: "/sessions/{session_id}", params: [sessionId], open: true },
          options,
        ),
    },
    password: {
      /** Change password. Ends all sessions of the current user, also the one that sends the request, and sets the cookie of a new one. Needs a session. */
      change: (body: ChangePasswordBody, options?: CallOptions): Promise<void> =>
        send.nothing({ method: "POST", path: "/password", body, open: true }, options),

      /** Reset password. Needs the token of a link that an owner created. The link works once, while its issuer has the permission to create it and no membership or role of the person has changed. Ends all sessions of the person. Needs no credential. */
      reset: (body: ResetPasswordBody, options?: CallOptions): Promise<void> =>
        send.nothing({ method: "POST", path: "/password/reset", body, open: true }, options),

      /** Check reset link. Says whose password a valid reset link sets, and changes nothing. Needs no credential. */
      checkReset: (body: CheckPasswordResetBody, options?: CallOptions): Promise<ResetCheck> =>
        send.data<ResetCheck>(
          { method: "POST", path: "/password/reset/check", body, open: true },
          options,
        ),
    },
  };
}
export type Operations = ReturnType<typeof bindOperations>;
