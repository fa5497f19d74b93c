/** Types of requests and responses. Long because it is generated: `node script/client.ts` makes it from docs/openapi.json. */

export type StreamEvent =
  | (
      | {
          type: "run.output.start";
          run_id: string;
          data: {
            step: number;
            attempt: number;
          };
        }
      | {
          type: "run.output.delta";
          run_id: string;
          data: {
            step: number;
            kind: "text" | "reasoning";
            text: string;
          };
        }
      | {
          type: "run.output.end";
          run_id: string;
          data: {
            step: number;
            complete: boolean;
            error?: string;
          };
        }
    )
  | {
      type: "stream.closed";
      data: {
        code: "unauthorized";
        message: string;
      };
    }
  | (
      | {
          type: "stream.opened";
          cursor: string;
          data: {
            [k: string]: unknown;
          };
        }
      | {
          type: "stream.reset";
          cursor: string;
          data: {
            message: string;
          };
        }
    )
  | (
      | {
          id: string;
          run_id: string;
          seq: number;
          type: string;
          version: number;
          time: string;
          data: {
            [k: string]: unknown;
          };
          agent_id: string;
          cursor: string;
          merged?: {
            seq: number;
            type: string;
            time: string;
          };
        }
      | {
          id: string;
          run_id: null;
          seq: null;
          type: string;
          version: number;
          time: string;
          data: {
            [k: string]: unknown;
          };
          agent_id: string | null;
          cursor: string;
        }
    )
  | {
      id: string;
      run_id: string;
      seq: number;
      type: string;
      version: number;
      time: string;
      data: {
        [k: string]: unknown;
      };
    };
export type InvokeAgentAnswer =
  | {
      ok: true;
      run_id: string;
      output: string;
    }
  | {
      ok: true;
      run_id: string;
      status:
        | "waiting"
        | "queued"
        | "running"
        | "succeeded"
        | "failed"
        | "cancelled"
        | (string & {});
    };
export type FireTriggerAnswer =
  | (
      | {
          ok: true;
          run_id: string;
        }
      | {
          ok: true;
          skipped: true;
        }
    )
  | {
      ok: true;
      skipped: true;
    };
export type FireTriggerBody = unknown;
export type CreateAgentAnswer = Agent & {
  token: string;
};
export type DuplicateAgentAnswer = Agent & {
  token: string;
};
export type CreateTriggerAnswer = Trigger & {
  token: string;
  url: string;
};
export type UpdateTriggerAnswer = Trigger & {
  warnings: {
    part: "filter" | "template" | "verification";
    message: string;
    line: number | null;
  }[];
};
export type RotateTriggerAnswer = Trigger & {
  token: string;
  url: string;
};
export type RevealTriggerAnswer = Trigger & {
  token: string;
  url: string;
};
export type ListEventsAnswer =
  | {
      id: string;
      run_id: string;
      seq: number;
      type: string;
      version: number;
      time: string;
      data: {
        [k: string]: unknown;
      };
      agent_id: string;
      cursor: string;
      merged?: {
        seq: number;
        type: string;
        time: string;
      };
    }
  | {
      id: string;
      run_id: null;
      seq: null;
      type: string;
      version: number;
      time: string;
      data: {
        [k: string]: unknown;
      };
      agent_id: string | null;
      cursor: string;
    };
export type GetEventAnswer =
  | {
      id: string;
      run_id: string;
      seq: number;
      type: string;
      version: number;
      time: string;
      data: {
        [k: string]: unknown;
      };
      agent_id: string;
      cursor: string;
      merged?: {
        seq: number;
        type: string;
        time: string;
      };
    }
  | {
      id: string;
      run_id: null;
      seq: null;
      type: string;
      version: number;
      time: string;
      data: {
        [k: string]: unknown;
      };
      agent_id: string | null;
      cursor: string;
    };
export type CreateSubscriptionAnswer = Subscription & {
  secret: string;
};
export type RotateSubscriptionSecretAnswer = Subscription & {
  secret: string;
};
export type RevealSubscriptionSecretAnswer = Subscription & {
  secret: string;
};
export type CreateKeyAnswer = Key & {
  key: string;
};
export type RotateKeyAnswer = Key & {
  key: string;
};
export type CreateWorkspaceAnswer = Workspace & {
  key?: string;
  key_id?: string;
  key_expires_at?: string | null;
};
export type CreateResetLinkAnswer = ResetLink & {
  token: string;
  url: string;
};
export type CreateInvitationAnswer = Invitation & {
  token: string;
  url: string;
};

export interface ErrorAnswer {
  ok: false;
  error: string;
  code:
    | (
        | "bad_request"
        | "unauthorized"
        | "forbidden"
        | "not_found"
        | "method_not_allowed"
        | "misdirected"
        | "agent_paused"
        | "trigger_disabled"
        | "conflict"
        | "stale"
        | "too_large"
        | "unsupported_type"
        | "idempotency_mismatch"
        | "agent_busy"
        | "too_many_requests"
        | "secret_unreadable"
        | "internal_error"
        | "unavailable"
      )
    | (
        | "model_error"
        | "model_timeout"
        | "tool_error"
        | "step_limit"
        | "deadline_exceeded"
        | "plan_exhausted"
        | "ceiling_reached"
        | "price_unknown"
        | "mapping_error"
        | "interrupted"
        | "cancelled"
      );
  run_id?: string;
  limit?: {
    scope: "plan" | "workspace" | "agent" | "key" | "trigger" | "run";
    scope_id: string;
    metric: "cost" | "tokens" | "voice" | "browser";
    used: number;
    limit: number;
    needed?: number;
    resets_at: string | null;
  };
}
export interface Agent {
  name: string;
  description: string;
  instructions: string;
  model: string;
  model_settings: {
    temperature?: number;
    /**
     * Maximum output tokens of a model call. If it is set, an answer that is truncated there is accepted, unless it has tool calls or no text. If not, the provider's limit or `limits.reserve_output_tokens` applies, and a truncated answer fails the run with `model_error`.
     */
    max_output_tokens?: number;
    reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh";
    /**
     * `auto` streams the model's response if the run has subscribers, or if the response could take minutes: `max_output_tokens` is above 8,192, or `reasoning_effort` is `medium` or higher, or if a call of the model ended in the last hour because its answer took too long for a gateway.
     */
    stream: "auto" | "always" | "never";
  };
  tools: (
    | {
        type: "clock";
      }
    | {
        type: "http";
        name: string;
        description: string;
        /**
         * @minItems 1
         * @maxItems 50
         */
        allowed_hosts: string[];
        headers: {
          [k: string]:
            | string
            | {
                secret_id: string;
                secret_last4?: string | null;
                prefix?: string;
              };
        };
        query: {
          [k: string]:
            | string
            | {
                secret_id: string;
                secret_last4?: string | null;
                prefix?: string;
              };
        };
        /**
         * @minItems 1
         * @maxItems 64
         */
        operations: {
          name: string;
          description: string;
          method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
          url: string;
          query: {
            [k: string]:
              | string
              | {
                  secret_id: string;
                  secret_last4?: string | null;
                  prefix?: string;
                };
          };
          headers: {
            [k: string]:
              | string
              | {
                  secret_id: string;
                  secret_last4?: string | null;
                  prefix?: string;
                };
          };
          parameters: {
            [k: string]: unknown;
          };
          body?: unknown;
          body_type?: "json" | "form";
          safe_to_repeat?: boolean;
          idempotency_header?: string;
        }[];
        timeout_seconds: number;
        max_response_bytes: number;
        max_calls_per_run: number;
      }
  )[];
  limits: {
    /**
     * Maximum number of steps of a run. A step is one model call and the tool calls that its answer requests. If the last step requests tool calls, they are not made, and the run fails with `step_limit`.
     */
    max_steps: number;
    /**
     * Maximum seconds from the first start of a run to its end. A run that takes longer fails with `deadline_exceeded`. Two waits do not count: after the exit of the run's process, until another process resumes the run, and in the queue after a process that shuts down has released the run.
     */
    timeout_seconds: number;
    /**
     * Maximum number of runs of the agent that are executed at the same time; null means no limit. Further runs are queued.
     */
    max_concurrent_runs: number | null;
    /**
     * Maximum number of queued runs of the agent. Further starts are rejected with 429 `agent_busy`.
     */
    max_queued_runs: number;
    /**
     * Maximum number of attempts of a run. If a process exits while it executes the run, another process resumes the run in a new attempt. If it exits during the last attempt, the run fails with `interrupted`, unless other runs on their last attempt can be the cause.
     */
    max_attempts: number;
    /**
     * Maximum bytes of one model response. Of a streamed response, this is the maximum of its content; the whole stream can have 8 times as many bytes. A longer response fails the run with `model_error`.
     */
    max_answer_bytes: number;
    /**
     * Maximum cost of one run in micro-dollars; null means no limit. The maximum output tokens of a model call are lowered so that the call cannot exceed it. The run fails with `ceiling_reached` if too few tokens are left for a useful call, or if the lowered maximum truncates an answer.
     */
    max_cost_micros: number | null;
    /**
     * Maximum output tokens of a model call, and the number of tokens whose cost is reserved before it. It applies if `max_output_tokens` is not set, and the run has a limit (a ceiling, an allowance of cost or tokens, or `max_cost_micros`) or the model is of another server with Anthropic's API. An answer that is truncated there fails the run with `model_error`.
     */
    reserve_output_tokens: number;
  };
  metadata: {
    [k: string]: unknown;
  };
  id: string;
  version: number;
  /**
   * Id of the workspace's provider that the current version uses; null if the model is built in or of an operator's provider. The provider stays the same until the agent is changed.
   */
  provider_id: string | null;
  paused: boolean;
  paused_by: ("member" | "limit") | null;
  pause_reason: string | null;
  created_at: string;
  updated_at: string;
  deleted_at?: string;
  restorable_until?: string;
}
export interface AgentVersionEntry {
  version: number;
  created_at: string;
  created_by: string;
}
export interface AgentVersion {
  version: number;
  created_at: string;
  created_by: string;
  agent_id: string;
  name: string;
  description: string;
  instructions: string;
  model: string;
  model_settings: {
    temperature?: number;
    /**
     * Maximum output tokens of a model call. If it is set, an answer that is truncated there is accepted, unless it has tool calls or no text. If not, the provider's limit or `limits.reserve_output_tokens` applies, and a truncated answer fails the run with `model_error`.
     */
    max_output_tokens?: number;
    reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh";
    /**
     * `auto` streams the model's response if the run has subscribers, or if the response could take minutes: `max_output_tokens` is above 8,192, or `reasoning_effort` is `medium` or higher, or if a call of the model ended in the last hour because its answer took too long for a gateway.
     */
    stream: "auto" | "always" | "never";
  };
  tools: (
    | {
        type: "clock";
      }
    | {
        type: "http";
        name: string;
        description: string;
        /**
         * @minItems 1
         * @maxItems 50
         */
        allowed_hosts: string[];
        headers: {
          [k: string]:
            | string
            | {
                secret_id: string;
                secret_last4?: string | null;
                prefix?: string;
              };
        };
        query: {
          [k: string]:
            | string
            | {
                secret_id: string;
                secret_last4?: string | null;
                prefix?: string;
              };
        };
        /**
         * @minItems 1
         * @maxItems 64
         */
        operations: {
          name: string;
          description: string;
          method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
          url: string;
          query: {
            [k: string]:
              | string
              | {
                  secret_id: string;
                  secret_last4?: string | null;
                  prefix?: string;
                };
          };
          headers: {
            [k: string]:
              | string
              | {
                  secret_id: string;
                  secret_last4?: string | null;
                  prefix?: string;
                };
          };
          parameters: {
            [k: string]: unknown;
          };
          body?: unknown;
          body_type?: "json" | "form";
          safe_to_repeat?: boolean;
          idempotency_header?: string;
        }[];
        timeout_seconds: number;
        max_response_bytes: number;
        max_calls_per_run: number;
      }
  )[];
  limits: {
    /**
     * Maximum number of steps of a run. A step is one model call and the tool calls that its answer requests. If the last step requests tool calls, they are not made, and the run fails with `step_limit`.
     */
    max_steps: number;
    /**
     * Maximum seconds from the first start of a run to its end. A run that takes longer fails with `deadline_exceeded`. Two waits do not count: after the exit of the run's process, until another process resumes the run, and in the queue after a process that shuts down has released the run.
     */
    timeout_seconds: number;
    /**
     * Maximum number of runs of the agent that are executed at the same time; null means no limit. Further runs are queued.
     */
    max_concurrent_runs: number | null;
    /**
     * Maximum number of queued runs of the agent. Further starts are rejected with 429 `agent_busy`.
     */
    max_queued_runs: number;
    /**
     * Maximum number of attempts of a run. If a process exits while it executes the run, another process resumes the run in a new attempt. If it exits during the last attempt, the run fails with `interrupted`, unless other runs on their last attempt can be the cause.
     */
    max_attempts: number;
    /**
     * Maximum bytes of one model response. Of a streamed response, this is the maximum of its content; the whole stream can have 8 times as many bytes. A longer response fails the run with `model_error`.
     */
    max_answer_bytes: number;
    /**
     * Maximum cost of one run in micro-dollars; null means no limit. The maximum output tokens of a model call are lowered so that the call cannot exceed it. The run fails with `ceiling_reached` if too few tokens are left for a useful call, or if the lowered maximum truncates an answer.
     */
    max_cost_micros: number | null;
    /**
     * Maximum output tokens of a model call, and the number of tokens whose cost is reserved before it. It applies if `max_output_tokens` is not set, and the run has a limit (a ceiling, an allowance of cost or tokens, or `max_cost_micros`) or the model is of another server with Anthropic's API. An answer that is truncated there fails the run with `model_error`.
     */
    reserve_output_tokens: number;
  };
  metadata: {
    [k: string]: unknown;
  };
  /**
   * Id of the workspace's provider that the version uses; null if the model is built in or of an operator's provider. The provider can have been deleted since.
   */
  provider_id: string | null;
}
export interface VersionComparison {
  from: number;
  to: number;
  changes: {
    path: string;
    before?: unknown;
    after?: unknown;
  }[];
}
export interface ExportedAgents {
  beckon: 1;
  agents: {
    name: string;
    model: string;
    instructions: string;
    description: string;
    model_settings: {
      temperature?: number | null;
      max_output_tokens?: number | null;
      reasoning_effort?: ("none" | "minimal" | "low" | "medium" | "high" | "xhigh") | null;
      /**
       * `auto` streams the model's response if the run has subscribers, or if the response could take minutes: `max_output_tokens` is above 8,192, or `reasoning_effort` is `medium` or higher, or if a call of the model ended in the last hour because its answer took too long for a gateway.
       */
      stream: "auto" | "always" | "never";
    };
    /**
     * @maxItems 64
     */
    tools: (
      | {
          type: "clock";
        }
      | {
          type: "http";
          name: string;
          description: string;
          /**
           * @minItems 1
           * @maxItems 50
           */
          allowed_hosts: string[];
          headers: {
            [k: string]:
              | string
              | {
                  secret: string | null;
                  prefix?: string;
                };
          };
          query: {
            [k: string]:
              | string
              | {
                  secret: string | null;
                  prefix?: string;
                };
          };
          /**
           * @minItems 1
           * @maxItems 64
           */
          operations: {
            name: string;
            description: string;
            method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
            url: string;
            query: {
              [k: string]:
                | string
                | {
                    secret: string | null;
                    prefix?: string;
                  };
            };
            headers: {
              [k: string]:
                | string
                | {
                    secret: string | null;
                    prefix?: string;
                  };
            };
            parameters: {
              [k: string]: unknown;
            };
            body?: unknown;
            body_type?: "json" | "form";
            safe_to_repeat?: boolean;
            idempotency_header?: string;
          }[];
          timeout_seconds: number;
          max_response_bytes: number;
          max_calls_per_run: number;
        }
    )[];
    limits: {
      /**
       * Maximum number of steps of a run. A step is one model call and the tool calls that its answer requests. If the last step requests tool calls, they are not made, and the run fails with `step_limit`.
       */
      max_steps: number;
      /**
       * Maximum seconds from the first start of a run to its end. A run that takes longer fails with `deadline_exceeded`. Two waits do not count: after the exit of the run's process, until another process resumes the run, and in the queue after a process that shuts down has released the run.
       */
      timeout_seconds: number;
      /**
       * Maximum number of runs of the agent that are executed at the same time; null means no limit. Further runs are queued.
       */
      max_concurrent_runs: number | null;
      /**
       * Maximum number of queued runs of the agent. Further starts are rejected with 429 `agent_busy`.
       */
      max_queued_runs: number;
      /**
       * Maximum number of attempts of a run. If a process exits while it executes the run, another process resumes the run in a new attempt. If it exits during the last attempt, the run fails with `interrupted`, unless other runs on their last attempt can be the cause.
       */
      max_attempts: number;
      /**
       * Maximum bytes of one model response. Of a streamed response, this is the maximum of its content; the whole stream can have 8 times as many bytes. A longer response fails the run with `model_error`.
       */
      max_answer_bytes: number;
      /**
       * Maximum cost of one run in micro-dollars; null means no limit. The maximum output tokens of a model call are lowered so that the call cannot exceed it. The run fails with `ceiling_reached` if too few tokens are left for a useful call, or if the lowered maximum truncates an answer.
       */
      max_cost_micros: number | null;
      /**
       * Maximum output tokens of a model call, and the number of tokens whose cost is reserved before it. It applies if `max_output_tokens` is not set, and the run has a limit (a ceiling, an allowance of cost or tokens, or `max_cost_micros`) or the model is of another server with Anthropic's API. An answer that is truncated there fails the run with `model_error`.
       */
      reserve_output_tokens: number;
    };
    metadata: {
      [k: string]: unknown;
    };
    paused: boolean;
    pause_reason: string | null;
    triggers?: {
      name: string;
      prompt_prefix: string;
      enabled: boolean;
      allows_callback: boolean;
      receiving: {
        preset:
          | (
              | "github"
              | "gitlab"
              | "stripe"
              | "slack"
              | "shopify"
              | "linear"
              | "twilio"
              | "standard-webhooks"
              | "svix"
              | "meta"
              | "dropbox"
              | "cloudevents"
              | "hmac"
              | "secret-header"
              | "basic"
              | "none"
            )
          | null;
        verification:
          | {
              kind: "none";
            }
          | {
              kind: "hmac";
              header: string;
              algorithm: "sha1" | "sha256" | "sha512";
              encoding: "hex" | "base64";
              prefix: string;
              form: "plain" | "pairs" | "list";
              /**
               * @minItems 1
               * @maxItems 10
               */
              signed: (
                | ("body" | "timestamp" | "id")
                | {
                    literal: string;
                  }
              )[];
              timestamp:
                | (
                    | {
                        header: string;
                      }
                    | {
                        pair: string;
                      }
                    | {
                        pointer: string;
                      }
                  )
                | null;
              id: {
                header: string;
              } | null;
              tolerance_seconds: number;
              secret_encoding: "text" | "hex" | "base64" | "whsec";
            }
          | {
              kind: "header";
              header: string;
              prefix: string;
            }
          | {
              kind: "basic";
            }
          | {
              kind: "twilio";
            };
        allowed_addresses: string[] | null;
        event_id:
          | (
              | (
                  | {
                      header: string;
                    }
                  | {
                      query: string;
                    }
                  | {
                      pointer: string;
                    }
                )
              | "cloudevents"
            )
          | null;
        event_id_days: number;
        event_type:
          | (
              | (
                  | {
                      header: string;
                    }
                  | {
                      query: string;
                    }
                  | {
                      pointer: string;
                    }
                )
              | "cloudevents"
            )
          | null;
        handshake: "none" | "meta" | "dropbox" | "slack" | "cloudevents";
        bodies: {
          multipart: boolean;
          xml: boolean;
          ndjson: boolean;
          csv: boolean;
          gzip: boolean;
          max_bytes: number;
        };
        /**
         * @maxItems 50
         */
        headers: string[];
        /**
         * @maxItems 50
         */
        query: string[];
        filter: string | null;
        template: string | null;
        when_paused: "refuse" | "hold";
        when_disabled: "refuse" | "swallow";
        max_per_minute: number | null;
        form: {
          origins: string[] | null;
          honeypot: string | null;
          answer:
            | (
                | {
                    redirect: string;
                  }
                | {
                    text: string;
                  }
              )
            | null;
        };
      } | null;
    }[];
  }[];
}
export interface ImportedAgents {
  agents: {
    id: string;
    name: string;
    token: string;
    triggers: {
      id: string;
      name: string;
      token: string;
      url: string;
    }[];
    secrets_needed: string[];
  }[];
}
export interface Trigger {
  id: string;
  agent_id: string;
  version: string;
  name: string;
  prompt_prefix: string;
  enabled: boolean;
  allows_callback: boolean;
  receiving: {
    preset:
      | (
          | "github"
          | "gitlab"
          | "stripe"
          | "slack"
          | "shopify"
          | "linear"
          | "twilio"
          | "standard-webhooks"
          | "svix"
          | "meta"
          | "dropbox"
          | "cloudevents"
          | "hmac"
          | "secret-header"
          | "basic"
          | "none"
        )
      | null;
    verification:
      | {
          kind: "none";
        }
      | {
          kind: "hmac";
          header: string;
          algorithm: "sha1" | "sha256" | "sha512";
          encoding: "hex" | "base64";
          prefix: string;
          form: "plain" | "pairs" | "list";
          /**
           * @minItems 1
           * @maxItems 10
           */
          signed: (
            | ("body" | "timestamp" | "id")
            | {
                literal: string;
              }
          )[];
          timestamp:
            | (
                | {
                    header: string;
                  }
                | {
                    pair: string;
                  }
                | {
                    pointer: string;
                  }
              )
            | null;
          id: {
            header: string;
          } | null;
          tolerance_seconds: number;
          secret_encoding: "text" | "hex" | "base64" | "whsec";
        }
      | {
          kind: "header";
          header: string;
          prefix: string;
        }
      | {
          kind: "basic";
        }
      | {
          kind: "twilio";
        };
    allowed_addresses: string[] | null;
    event_id:
      | (
          | (
              | {
                  header: string;
                }
              | {
                  query: string;
                }
              | {
                  pointer: string;
                }
            )
          | "cloudevents"
        )
      | null;
    event_id_days: number;
    event_type:
      | (
          | (
              | {
                  header: string;
                }
              | {
                  query: string;
                }
              | {
                  pointer: string;
                }
            )
          | "cloudevents"
        )
      | null;
    handshake: "none" | "meta" | "dropbox" | "slack" | "cloudevents";
    bodies: {
      multipart: boolean;
      xml: boolean;
      ndjson: boolean;
      csv: boolean;
      gzip: boolean;
      max_bytes: number;
    };
    /**
     * @maxItems 50
     */
    headers: string[];
    /**
     * @maxItems 50
     */
    query: string[];
    filter: string | null;
    template: string | null;
    when_paused: "refuse" | "hold";
    when_disabled: "refuse" | "swallow";
    max_per_minute: number | null;
    form: {
      origins: string[] | null;
      honeypot: string | null;
      answer:
        | (
            | {
                redirect: string;
              }
            | {
                text: string;
              }
          )
        | null;
    };
  } | null;
  sender_secret_set: boolean;
  listening_until: string | null;
  created_at: string;
  updated_at: string;
}
export interface TriggerPreset {
  name:
    | "github"
    | "gitlab"
    | "stripe"
    | "slack"
    | "shopify"
    | "linear"
    | "twilio"
    | "standard-webhooks"
    | "svix"
    | "meta"
    | "dropbox"
    | "cloudevents"
    | "hmac"
    | "secret-header"
    | "basic"
    | "none";
  title: string;
  instructions: string;
  url: string | null;
  secret_from: "sender" | "receiver" | "none";
  receiving: {
    preset:
      | (
          | "github"
          | "gitlab"
          | "stripe"
          | "slack"
          | "shopify"
          | "linear"
          | "twilio"
          | "standard-webhooks"
          | "svix"
          | "meta"
          | "dropbox"
          | "cloudevents"
          | "hmac"
          | "secret-header"
          | "basic"
          | "none"
        )
      | null;
    verification:
      | {
          kind: "none";
        }
      | {
          kind: "hmac";
          header: string;
          algorithm: "sha1" | "sha256" | "sha512";
          encoding: "hex" | "base64";
          prefix: string;
          form: "plain" | "pairs" | "list";
          /**
           * @minItems 1
           * @maxItems 10
           */
          signed: (
            | ("body" | "timestamp" | "id")
            | {
                literal: string;
              }
          )[];
          timestamp:
            | (
                | {
                    header: string;
                  }
                | {
                    pair: string;
                  }
                | {
                    pointer: string;
                  }
              )
            | null;
          id: {
            header: string;
          } | null;
          tolerance_seconds: number;
          secret_encoding: "text" | "hex" | "base64" | "whsec";
        }
      | {
          kind: "header";
          header: string;
          prefix: string;
        }
      | {
          kind: "basic";
        }
      | {
          kind: "twilio";
        };
    allowed_addresses: string[] | null;
    event_id:
      | (
          | (
              | {
                  header: string;
                }
              | {
                  query: string;
                }
              | {
                  pointer: string;
                }
            )
          | "cloudevents"
        )
      | null;
    event_id_days: number;
    event_type:
      | (
          | (
              | {
                  header: string;
                }
              | {
                  query: string;
                }
              | {
                  pointer: string;
                }
            )
          | "cloudevents"
        )
      | null;
    handshake: "none" | "meta" | "dropbox" | "slack" | "cloudevents";
    bodies: {
      multipart: boolean;
      xml: boolean;
      ndjson: boolean;
      csv: boolean;
      gzip: boolean;
      max_bytes: number;
    };
    /**
     * @maxItems 50
     */
    headers: string[];
    /**
     * @maxItems 50
     */
    query: string[];
    filter: string | null;
    template: string | null;
    when_paused: "refuse" | "hold";
    when_disabled: "refuse" | "swallow";
    max_per_minute: number | null;
    form: {
      origins: string[] | null;
      honeypot: string | null;
      answer:
        | (
            | {
                redirect: string;
              }
            | {
                text: string;
              }
          )
        | null;
    };
  };
  examples: {
    name: string;
    query: {
      [k: string]: string;
    };
    headers: {
      [k: string]: string;
    };
    body: string;
  }[];
}
export interface ReceivedRequest {
  id: string;
  agent_id: string;
  trigger_id: string;
  received_at: string;
  outcome:
    | "started"
    | "held"
    | "repeated"
    | "mapping_error"
    | "limit_reached"
    | "filtered"
    | "captured"
    | "honeypot"
    | "swallowed"
    | "invalid_signature"
    | "rejected";
  error: string | null;
  event_id: string | null;
  event_type: string | null;
  run_id: string | null;
  replay_of: string | null;
  address: string | null;
  content_type: string | null;
  size: number;
}
export interface ReceivedRequestDetails {
  id: string;
  agent_id: string;
  trigger_id: string;
  received_at: string;
  outcome:
    | "started"
    | "held"
    | "repeated"
    | "mapping_error"
    | "limit_reached"
    | "filtered"
    | "captured"
    | "honeypot"
    | "swallowed"
    | "invalid_signature"
    | "rejected";
  error: string | null;
  event_id: string | null;
  event_type: string | null;
  run_id: string | null;
  replay_of: string | null;
  address: string | null;
  content_type: string | null;
  size: number;
  query: {
    [k: string]: string[];
  };
  headers: {
    [k: string]: string;
  };
  body: string | null;
  body_encoding: "utf8" | "base64";
}
export interface TriggerPreview {
  event_id: string | null;
  event_type: string | null;
  passes: boolean | null;
  input: string | null;
  parts: {
    kind: "prefix" | "values" | "message" | "payload";
    text: string;
  }[];
  mistakes: {
    part: "filter" | "template";
    message: string;
    line: number | null;
  }[];
}
export interface Run {
  id: string;
  agent_id: string;
  agent_version: number;
  status: "waiting" | "queued" | "running" | "succeeded" | "failed" | "cancelled" | (string & {});
  source: "invoke" | "trigger" | "draft" | (string & {});
  trigger_id: string | null;
  retry_of: string | null;
  external_id: string | null;
  tags: string[];
  input: string;
  output: string | null;
  error: {
    /**
     * Reserved, not produced yet: tool_error.
     */
    code:
      | "model_error"
      | "model_timeout"
      | "tool_error"
      | "step_limit"
      | "deadline_exceeded"
      | "plan_exhausted"
      | "ceiling_reached"
      | "price_unknown"
      | "mapping_error"
      | "interrupted"
      | "cancelled";
    message: string;
  } | null;
  limit: {
    scope: "plan" | "workspace" | "agent" | "key" | "trigger" | "run";
    scope_id: string;
    metric: "cost" | "tokens" | "voice" | "browser";
    used: number;
    limit: number;
    needed?: number;
    resets_at: string | null;
  } | null;
  waiting_for?: {
    scope: "plan" | "workspace" | "agent" | "key" | "trigger" | "run";
    scope_id: string;
    metric: "cost" | "tokens" | "voice" | "browser";
    used: number;
    limit: number;
    reserved: number;
    resets_at: string;
  };
  usage: {
    input_tokens: number;
    output_tokens: number;
    cached_input_tokens: number;
    cache_write_tokens?: number;
    reasoning_tokens?: number;
    estimated?: boolean;
  };
  cost_micros: number | null;
  attempt: number;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
}
export interface ListedRun {
  id: string;
  agent_id: string;
  agent_version: number;
  status: "waiting" | "queued" | "running" | "succeeded" | "failed" | "cancelled" | (string & {});
  source: "invoke" | "trigger" | "draft" | (string & {});
  trigger_id: string | null;
  retry_of: string | null;
  external_id: string | null;
  tags: string[];
  input: string;
  output: string | null;
  error: {
    /**
     * Reserved, not produced yet: tool_error.
     */
    code:
      | "model_error"
      | "model_timeout"
      | "tool_error"
      | "step_limit"
      | "deadline_exceeded"
      | "plan_exhausted"
      | "ceiling_reached"
      | "price_unknown"
      | "mapping_error"
      | "interrupted"
      | "cancelled";
    message: string;
  } | null;
  limit: {
    scope: "plan" | "workspace" | "agent" | "key" | "trigger" | "run";
    scope_id: string;
    metric: "cost" | "tokens" | "voice" | "browser";
    used: number;
    limit: number;
    needed?: number;
    resets_at: string | null;
  } | null;
  waiting_for?: {
    scope: "plan" | "workspace" | "agent" | "key" | "trigger" | "run";
    scope_id: string;
    metric: "cost" | "tokens" | "voice" | "browser";
    used: number;
    limit: number;
    reserved: number;
    resets_at: string;
  };
  usage: {
    input_tokens: number;
    output_tokens: number;
    cached_input_tokens: number;
    cache_write_tokens?: number;
    reasoning_tokens?: number;
    estimated?: boolean;
  };
  cost_micros: number | null;
  attempt: number;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  input_bytes?: number;
  output_bytes?: number | null;
}
export interface RunStats {
  created_after: string;
  created_before: string;
  time_zone: string;
  total: {
    runs: {
      waiting: number;
      queued: number;
      running: number;
      succeeded: number;
      failed: number;
      cancelled: number;
    };
    duration_ms: {
      p50: number | null;
      p95: number | null;
    };
    usage: {
      input_tokens: number;
      output_tokens: number;
    };
    cost_micros: number | null;
  };
  groups: {
    bucket: string | null;
    agent_id: string | null;
    runs: {
      waiting: number;
      queued: number;
      running: number;
      succeeded: number;
      failed: number;
      cancelled: number;
    };
    duration_ms: {
      p50: number | null;
      p95: number | null;
    };
    usage: {
      input_tokens: number;
      output_tokens: number;
    };
    cost_micros: number | null;
  }[];
}
export interface RunEvent {
  id: string;
  run_id: string;
  seq: number;
  type: string;
  version: number;
  time: string;
  data: {
    [k: string]: unknown;
  };
}
export interface Provider {
  id: string;
  name: string;
  kind: string;
  origin: "workspace" | "environment" | "discovered";
  base_url: string | null;
  api_key_last4: string | null;
  free: boolean;
  created_at: string | null;
  updated_at: string | null;
}
export interface ProviderCheck {
  works: boolean;
  models: string[];
  error: string | null;
}
export interface ModelList {
  provider: string;
  provider_id: string | null;
  origin: "workspace" | "environment" | "discovered" | "built_in";
  models: string[];
  error: string | null;
}
export interface ModelPrice {
  id: string | null;
  model: string;
  provider_id: string | null;
  current: {
    input_micros_per_million: number;
    output_micros_per_million: number;
    cached_input_micros_per_million: number | null;
    cache_write_micros_per_million: number | null;
    origin: "library" | "operator" | "workspace" | "free";
    call_micros: number;
    tiers: {
      input_micros_per_million: number;
      output_micros_per_million: number;
      cached_input_micros_per_million: number | null;
      cache_write_micros_per_million: number | null;
      above_input_tokens: number;
    }[];
  } | null;
  standard: {
    input_micros_per_million: number;
    output_micros_per_million: number;
    cached_input_micros_per_million: number | null;
    cache_write_micros_per_million: number | null;
    origin: "library" | "operator" | "workspace" | "free";
    call_micros: number;
    tiers: {
      input_micros_per_million: number;
      output_micros_per_million: number;
      cached_input_micros_per_million: number | null;
      cache_write_micros_per_million: number | null;
      above_input_tokens: number;
    }[];
  } | null;
  created_at: string | null;
  updated_at: string | null;
}
export interface Ceiling {
  scope: "workspace" | "agent" | "key" | "trigger";
  scope_id: string;
  name: string | null;
  limit_micros: number;
  pauses_agent: boolean;
  spent_micros: number;
  reserved_micros: number;
  left_micros: number;
  reached: boolean;
  starts_at: string;
  resets_at: string;
  created_at: string;
  updated_at: string;
}
export interface Plan {
  id: string | null;
  name: string;
  origin: "built_in" | "operator" | "api";
  tokens: number | null;
  voice_ms: number | null;
  browser_ms: number | null;
  cost_micros: number | null;
  created_at: string | null;
  updated_at: string | null;
}
export interface WorkspacePlan {
  workspace_id: string;
  workspace_name: string;
  time_zone: string;
  plan: string;
  next_plan: {
    plan: string;
    starts_at: string;
  } | null;
  anchor_day: number;
}
export interface PlanUsage {
  plan: string;
  next_plan: {
    plan: string;
    starts_at: string;
  } | null;
  anchor_day: number;
  time_zone: string;
  starts_at: string;
  resets_at: string;
  metrics: {
    metric: "cost" | "tokens" | "voice" | "browser";
    allowance: number | null;
    used: number | null;
    unknown_cost_entries: number;
    reserved: number;
    left: number | null;
    reached: boolean;
    resets_at: string;
  }[];
}
export interface Key {
  id: string;
  name: string;
  scopes: string[];
  agent_ids: string[] | null;
  bootstrap: boolean;
  created_by: string;
  created_at: string;
  updated_at: string;
  expires_at: string | null;
  last_used_at: string | null;
}
export interface UsageReport {
  from: string;
  to: string;
  time_zone: string;
  since: string | null;
  totals: {
    entries: number;
    input_tokens: number;
    output_tokens: number;
    cached_input_tokens: number;
    cache_write_tokens: number;
    reasoning_tokens: number;
    voice_ms: number;
    browser_ms: number;
    cost_micros: number | null;
    unknown_cost_entries: number;
    estimated_entries: number;
  };
  rows: {
    day?: string;
    hour?: string;
    agent_id?: string;
    agent_name?: string | null;
    model?: string;
    caller?: string;
    caller_name?: string | null;
    metric?: string;
    tag?: string | null;
    entries: number;
    input_tokens: number;
    output_tokens: number;
    cached_input_tokens: number;
    cache_write_tokens: number;
    reasoning_tokens: number;
    voice_ms: number;
    browser_ms: number;
    cost_micros: number | null;
    unknown_cost_entries: number;
    estimated_entries: number;
  }[];
  next: string | null;
}
export interface AuditEntry {
  id: string;
  time: string;
  actor: string;
  action: string;
  target: string;
  address: string | null;
  data: {
    [k: string]: unknown;
  };
}
export interface Subscription {
  id: string;
  version: number;
  url: string;
  description: string;
  event_types: string[];
  agent_ids: string[] | null;
  trigger_ids: string[] | null;
  tags: string[] | null;
  payload: "full" | "thin";
  format: "standard" | "cloudevents";
  header_names: string[];
  status: "enabled" | "paused" | "disabled";
  disabled_reason: ("failing" | "gone" | "backlog") | null;
  inactive_since: string | null;
  previous_secret_until: string | null;
  health: {
    last_success_at: string | null;
    last_failure_at: string | null;
    failing_since: string | null;
    last_error: string | null;
    pending: number;
    next_attempt_at: string | null;
    failed: number;
  };
  created_by: string;
  created_at: string;
  updated_at: string;
}
export interface ResumedSubscription {
  id: string;
  version: number;
  url: string;
  description: string;
  event_types: string[];
  agent_ids: string[] | null;
  trigger_ids: string[] | null;
  tags: string[] | null;
  payload: "full" | "thin";
  format: "standard" | "cloudevents";
  header_names: string[];
  status: "enabled" | "paused" | "disabled";
  disabled_reason: ("failing" | "gone" | "backlog") | null;
  inactive_since: string | null;
  previous_secret_until: string | null;
  health: {
    last_success_at: string | null;
    last_failure_at: string | null;
    failing_since: string | null;
    last_error: string | null;
    pending: number;
    next_attempt_at: string | null;
    failed: number;
  };
  created_by: string;
  created_at: string;
  updated_at: string;
  missed: {
    deliveries: number;
    since: string | null;
  };
}
export interface Delivery {
  id: string;
  subscription_id: string;
  kind: "event" | "callback" | "test";
  event_id: string;
  type: string;
  agent_id: string | null;
  run_id: string | null;
  seq: number | null;
  url: string;
  status: "pending" | "succeeded" | "failed" | "cancelled" | "not_sent";
  attempts: number;
  next_attempt_at: string | null;
  last_status: number | null;
  last_error: string | null;
  created_at: string;
  finished_at: string | null;
}
export interface DeliveryDetails {
  id: string;
  subscription_id: string;
  kind: "event" | "callback" | "test";
  event_id: string;
  type: string;
  agent_id: string | null;
  run_id: string | null;
  seq: number | null;
  url: string;
  status: "pending" | "succeeded" | "failed" | "cancelled" | "not_sent";
  attempts: number;
  next_attempt_at: string | null;
  last_status: number | null;
  last_error: string | null;
  created_at: string;
  finished_at: string | null;
  body: string | null;
  attempts_log: {
    number: number;
    started_at: string;
    duration_ms: number;
    url: string;
    request_headers: {
      [k: string]: string;
    };
    status: number | null;
    response_headers: {
      [k: string]: string;
    };
    response_body: string;
    error: string | null;
  }[];
}
export interface Workspace {
  id: string;
  name: string;
  time_zone: string;
  run_retention_days: number | null;
  max_run_retention_days: number | null;
  created_at: string;
  updated_at: string;
}
export interface Member {
  id: string;
  name: string;
  email: string;
  role: "owner" | "admin" | "editor" | "viewer";
  created_at: string;
  updated_at: string;
}
export interface Invitation {
  id: string;
  email: string;
  role: "owner" | "admin" | "editor" | "viewer";
  created_by: string;
  created_at: string;
  expires_at: string;
  valid: boolean;
}
export interface AcceptedInvitation {
  id: string;
  name: string;
  email: string;
  role: "owner" | "admin" | "editor" | "viewer";
  created_at: string;
  updated_at: string;
  workspace_id: string;
}
export interface ResetLink {
  expires_at: string;
}
export interface SetupCheck {
  workspace_name: string;
}
export interface InvitationCheck {
  workspace_id: string;
  workspace_name: string;
  role: "owner" | "admin" | "editor" | "viewer";
  email: string;
  inviter_name: string | null;
}
export interface ResetCheck {
  name: string;
  email: string;
  workspace_id: string;
}
export interface User {
  id: string;
  name: string;
  email: string;
  created_at: string;
  updated_at: string;
}
export interface Me {
  id: string;
  name: string;
  email: string;
  created_at: string;
  updated_at: string;
  workspaces: {
    id: string;
    name: string;
    role: "owner" | "admin" | "editor" | "viewer";
    scopes: string[];
  }[];
}
export interface Session {
  id: string;
  current: boolean;
  address: string | null;
  user_agent: string | null;
  created_at: string;
  last_used_at: string;
  expires_at: string;
}
export interface InvokeAgentBody {
  input: string;
}
export interface CreateAgentBody {
  name: string;
  model: string;
  instructions?: string;
  description?: string;
  model_settings?: {
    temperature?: number;
    /**
     * Maximum output tokens of a model call. If it is set, an answer that is truncated there is accepted, unless it has tool calls or no text. If not, the provider's limit or `limits.reserve_output_tokens` applies, and a truncated answer fails the run with `model_error`.
     */
    max_output_tokens?: number;
    reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh";
    /**
     * `auto` streams the model's response if the run has subscribers, or if the response could take minutes: `max_output_tokens` is above 8,192, or `reasoning_effort` is `medium` or higher, or if a call of the model ended in the last hour because its answer took too long for a gateway.
     */
    stream?: "auto" | "always" | "never";
  };
  /**
   * @maxItems 64
   */
  tools?: (
    | {
        type: "clock";
      }
    | {
        type: "http";
        name: string;
        description?: string;
        /**
         * @minItems 1
         * @maxItems 50
         */
        allowed_hosts: string[];
        headers?: {
          [k: string]:
            | string
            | {
                secret: string;
                prefix?: string;
              }
            | {
                secret_id: string;
                secret_last4?: string | null;
                prefix?: string;
              };
        };
        query?: {
          [k: string]:
            | string
            | {
                secret: string;
                prefix?: string;
              }
            | {
                secret_id: string;
                secret_last4?: string | null;
                prefix?: string;
              };
        };
        /**
         * @minItems 1
         * @maxItems 64
         */
        operations: {
          name: string;
          description: string;
          method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
          url: string;
          query?: {
            [k: string]:
              | string
              | {
                  secret: string;
                  prefix?: string;
                }
              | {
                  secret_id: string;
                  secret_last4?: string | null;
                  prefix?: string;
                };
          };
          headers?: {
            [k: string]:
              | string
              | {
                  secret: string;
                  prefix?: string;
                }
              | {
                  secret_id: string;
                  secret_last4?: string | null;
                  prefix?: string;
                };
          };
          parameters?: {
            [k: string]: unknown;
          };
          body?: unknown;
          body_type?: "json" | "form";
          safe_to_repeat?: boolean;
          idempotency_header?: string;
        }[];
        timeout_seconds?: number;
        max_response_bytes?: number;
        max_calls_per_run?: number;
      }
  )[];
  limits?: {
    /**
     * Maximum number of steps of a run. A step is one model call and the tool calls that its answer requests. If the last step requests tool calls, they are not made, and the run fails with `step_limit`.
     */
    max_steps?: number;
    /**
     * Maximum seconds from the first start of a run to its end. A run that takes longer fails with `deadline_exceeded`. Two waits do not count: after the exit of the run's process, until another process resumes the run, and in the queue after a process that shuts down has released the run.
     */
    timeout_seconds?: number;
    /**
     * Maximum number of runs of the agent that are executed at the same time; null means no limit. Further runs are queued.
     */
    max_concurrent_runs?: number | null;
    /**
     * Maximum number of queued runs of the agent. Further starts are rejected with 429 `agent_busy`.
     */
    max_queued_runs?: number;
    /**
     * Maximum number of attempts of a run. If a process exits while it executes the run, another process resumes the run in a new attempt. If it exits during the last attempt, the run fails with `interrupted`, unless other runs on their last attempt can be the cause.
     */
    max_attempts?: number;
    /**
     * Maximum bytes of one model response. Of a streamed response, this is the maximum of its content; the whole stream can have 8 times as many bytes. A longer response fails the run with `model_error`.
     */
    max_answer_bytes?: number;
    /**
     * Maximum cost of one run in micro-dollars; null means no limit. The maximum output tokens of a model call are lowered so that the call cannot exceed it. The run fails with `ceiling_reached` if too few tokens are left for a useful call, or if the lowered maximum truncates an answer.
     */
    max_cost_micros?: number | null;
    /**
     * Maximum output tokens of a model call, and the number of tokens whose cost is reserved before it. It applies if `max_output_tokens` is not set, and the run has a limit (a ceiling, an allowance of cost or tokens, or `max_cost_micros`) or the model is of another server with Anthropic's API. An answer that is truncated there fails the run with `model_error`.
     */
    reserve_output_tokens?: number;
  };
  metadata?: {
    [k: string]: unknown;
  };
}
export interface ListAgentsQuery {
  /**
   * Maximum number of items of a page.
   */
  limit?: number;
  after?: string;
  search?: string;
  paused?: "true" | "false";
  model?: string;
  deleted?: "true" | "false";
  /**
   * `summary`: `instructions`, `tools` and `metadata` are empty.
   */
  view?: "full" | "summary";
}
export interface UpdateAgentBody {
  name?: string;
  model?: string;
  instructions?: string;
  description?: string;
  model_settings?: {
    temperature?: number | null;
    max_output_tokens?: number | null;
    reasoning_effort?: ("none" | "minimal" | "low" | "medium" | "high" | "xhigh") | null;
    /**
     * `auto` streams the model's response if the run has subscribers, or if the response could take minutes: `max_output_tokens` is above 8,192, or `reasoning_effort` is `medium` or higher, or if a call of the model ended in the last hour because its answer took too long for a gateway.
     */
    stream?: "auto" | "always" | "never";
  };
  /**
   * @maxItems 64
   */
  tools?: (
    | {
        type: "clock";
      }
    | {
        type: "http";
        name: string;
        description?: string;
        /**
         * @minItems 1
         * @maxItems 50
         */
        allowed_hosts: string[];
        headers?: {
          [k: string]:
            | string
            | {
                secret: string;
                prefix?: string;
              }
            | {
                secret_id: string;
                secret_last4?: string | null;
                prefix?: string;
              };
        };
        query?: {
          [k: string]:
            | string
            | {
                secret: string;
                prefix?: string;
              }
            | {
                secret_id: string;
                secret_last4?: string | null;
                prefix?: string;
              };
        };
        /**
         * @minItems 1
         * @maxItems 64
         */
        operations: {
          name: string;
          description: string;
          method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
          url: string;
          query?: {
            [k: string]:
              | string
              | {
                  secret: string;
                  prefix?: string;
                }
              | {
                  secret_id: string;
                  secret_last4?: string | null;
                  prefix?: string;
                };
          };
          headers?: {
            [k: string]:
              | string
              | {
                  secret: string;
                  prefix?: string;
                }
              | {
                  secret_id: string;
                  secret_last4?: string | null;
                  prefix?: string;
                };
          };
          parameters?: {
            [k: string]: unknown;
          };
          body?: unknown;
          body_type?: "json" | "form";
          safe_to_repeat?: boolean;
          idempotency_header?: string;
        }[];
        timeout_seconds?: number;
        max_response_bytes?: number;
        max_calls_per_run?: number;
      }
  )[];
  limits?: {
    /**
     * Maximum number of steps of a run. A step is one model call and the tool calls that its answer requests. If the last step requests tool calls, they are not made, and the run fails with `step_limit`.
     */
    max_steps?: number;
    /**
     * Maximum seconds from the first start of a run to its end. A run that takes longer fails with `deadline_exceeded`. Two waits do not count: after the exit of the run's process, until another process resumes the run, and in the queue after a process that shuts down has released the run.
     */
    timeout_seconds?: number;
    /**
     * Maximum number of runs of the agent that are executed at the same time; null means no limit. Further runs are queued.
     */
    max_concurrent_runs?: number | null;
    /**
     * Maximum number of queued runs of the agent. Further starts are rejected with 429 `agent_busy`.
     */
    max_queued_runs?: number;
    /**
     * Maximum number of attempts of a run. If a process exits while it executes the run, another process resumes the run in a new attempt. If it exits during the last attempt, the run fails with `interrupted`, unless other runs on their last attempt can be the cause.
     */
    max_attempts?: number;
    /**
     * Maximum bytes of one model response. Of a streamed response, this is the maximum of its content; the whole stream can have 8 times as many bytes. A longer response fails the run with `model_error`.
     */
    max_answer_bytes?: number;
    /**
     * Maximum cost of one run in micro-dollars; null means no limit. The maximum output tokens of a model call are lowered so that the call cannot exceed it. The run fails with `ceiling_reached` if too few tokens are left for a useful call, or if the lowered maximum truncates an answer.
     */
    max_cost_micros?: number | null;
    /**
     * Maximum output tokens of a model call, and the number of tokens whose cost is reserved before it. It applies if `max_output_tokens` is not set, and the run has a limit (a ceiling, an allowance of cost or tokens, or `max_cost_micros`) or the model is of another server with Anthropic's API. An answer that is truncated there fails the run with `model_error`.
     */
    reserve_output_tokens?: number;
  };
  metadata?: {
    [k: string]: unknown;
  };
}
export interface DuplicateAgentBody {
  name?: string;
}
export interface PauseAgentBody {
  reason?: string;
}
export interface RotateAgentTokenAnswer {
  token: string;
}
export interface RotateAgentTokenBody {
  grace_seconds?: number;
}
export interface RevealAgentTokenAnswer {
  token: string;
}
export interface ListAgentVersionsQuery {
  /**
   * Maximum number of items of a page.
   */
  limit?: number;
  after?: string;
}
export interface CompareAgentVersionsQuery {
  with?: number;
}
export interface ImportAgentsBody {
  beckon: 1;
  /**
   * @maxItems 500
   */
  agents: {
    name: string;
    model: string;
    instructions?: string;
    description?: string;
    model_settings?: {
      temperature?: number | null;
      max_output_tokens?: number | null;
      reasoning_effort?: ("none" | "minimal" | "low" | "medium" | "high" | "xhigh") | null;
      /**
       * `auto` streams the model's response if the run has subscribers, or if the response could take minutes: `max_output_tokens` is above 8,192, or `reasoning_effort` is `medium` or higher, or if a call of the model ended in the last hour because its answer took too long for a gateway.
       */
      stream?: "auto" | "always" | "never";
    };
    /**
     * @maxItems 64
     */
    tools?: (
      | {
          type: "clock";
        }
      | {
          type: "http";
          name: string;
          description?: string;
          /**
           * @minItems 1
           * @maxItems 50
           */
          allowed_hosts: string[];
          headers?: {
            [k: string]:
              | string
              | {
                  secret: string | null;
                  prefix?: string;
                };
          };
          query?: {
            [k: string]:
              | string
              | {
                  secret: string | null;
                  prefix?: string;
                };
          };
          /**
           * @minItems 1
           * @maxItems 64
           */
          operations: {
            name: string;
            description: string;
            method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
            url: string;
            query?: {
              [k: string]:
                | string
                | {
                    secret: string | null;
                    prefix?: string;
                  };
            };
            headers?: {
              [k: string]:
                | string
                | {
                    secret: string | null;
                    prefix?: string;
                  };
            };
            parameters?: {
              [k: string]: unknown;
            };
            body?: unknown;
            body_type?: "json" | "form";
            safe_to_repeat?: boolean;
            idempotency_header?: string;
          }[];
          timeout_seconds?: number;
          max_response_bytes?: number;
          max_calls_per_run?: number;
        }
    )[];
    limits?: {
      /**
       * Maximum number of steps of a run. A step is one model call and the tool calls that its answer requests. If the last step requests tool calls, they are not made, and the run fails with `step_limit`.
       */
      max_steps?: number;
      /**
       * Maximum seconds from the first start of a run to its end. A run that takes longer fails with `deadline_exceeded`. Two waits do not count: after the exit of the run's process, until another process resumes the run, and in the queue after a process that shuts down has released the run.
       */
      timeout_seconds?: number;
      /**
       * Maximum number of runs of the agent that are executed at the same time; null means no limit. Further runs are queued.
       */
      max_concurrent_runs?: number | null;
      /**
       * Maximum number of queued runs of the agent. Further starts are rejected with 429 `agent_busy`.
       */
      max_queued_runs?: number;
      /**
       * Maximum number of attempts of a run. If a process exits while it executes the run, another process resumes the run in a new attempt. If it exits during the last attempt, the run fails with `interrupted`, unless other runs on their last attempt can be the cause.
       */
      max_attempts?: number;
      /**
       * Maximum bytes of one model response. Of a streamed response, this is the maximum of its content; the whole stream can have 8 times as many bytes. A longer response fails the run with `model_error`.
       */
      max_answer_bytes?: number;
      /**
       * Maximum cost of one run in micro-dollars; null means no limit. The maximum output tokens of a model call are lowered so that the call cannot exceed it. The run fails with `ceiling_reached` if too few tokens are left for a useful call, or if the lowered maximum truncates an answer.
       */
      max_cost_micros?: number | null;
      /**
       * Maximum output tokens of a model call, and the number of tokens whose cost is reserved before it. It applies if `max_output_tokens` is not set, and the run has a limit (a ceiling, an allowance of cost or tokens, or `max_cost_micros`) or the model is of another server with Anthropic's API. An answer that is truncated there fails the run with `model_error`.
       */
      reserve_output_tokens?: number;
    };
    metadata?: {
      [k: string]: unknown;
    };
    paused?: boolean;
    pause_reason?: string | null;
    triggers?: {
      name: string;
      prompt_prefix?: string;
      enabled?: boolean;
      allows_callback?: boolean;
      receiving?: {
        preset?:
          | (
              | "github"
              | "gitlab"
              | "stripe"
              | "slack"
              | "shopify"
              | "linear"
              | "twilio"
              | "standard-webhooks"
              | "svix"
              | "meta"
              | "dropbox"
              | "cloudevents"
              | "hmac"
              | "secret-header"
              | "basic"
              | "none"
            )
          | null;
        /**
         * Default: that of `preset`; without one, `{"kind":"none"}`.
         */
        verification?:
          | {
              kind: "none";
            }
          | {
              kind: "hmac";
              header: string;
              algorithm: "sha1" | "sha256" | "sha512";
              encoding: "hex" | "base64";
              prefix?: string;
              form?: "plain" | "pairs" | "list";
              /**
               * @minItems 1
               * @maxItems 10
               */
              signed: (
                | ("body" | "timestamp" | "id")
                | {
                    literal: string;
                  }
              )[];
              timestamp?:
                | (
                    | {
                        header: string;
                      }
                    | {
                        pair: string;
                      }
                    | {
                        pointer: string;
                      }
                  )
                | null;
              id?: {
                header: string;
              } | null;
              tolerance_seconds?: number;
              secret_encoding?: "text" | "hex" | "base64" | "whsec";
            }
          | {
              kind: "header";
              header: string;
              prefix?: string;
            }
          | {
              kind: "basic";
            }
          | {
              kind: "twilio";
            };
        /**
         * Default: that of `preset`; without one, `null`.
         */
        allowed_addresses?: string[] | null;
        /**
         * Default: that of `preset`; without one, `null`.
         */
        event_id?:
          | (
              | (
                  | {
                      header: string;
                    }
                  | {
                      query: string;
                    }
                  | {
                      pointer: string;
                    }
                )
              | "cloudevents"
            )
          | null;
        /**
         * Default: that of `preset`; without one, `7`.
         */
        event_id_days?: number;
        /**
         * Default: that of `preset`; without one, `null`.
         */
        event_type?:
          | (
              | (
                  | {
                      header: string;
                    }
                  | {
                      query: string;
                    }
                  | {
                      pointer: string;
                    }
                )
              | "cloudevents"
            )
          | null;
        /**
         * Default: that of `preset`; without one, `"none"`.
         */
        handshake?: "none" | "meta" | "dropbox" | "slack" | "cloudevents";
        /**
         * Default: that of `preset`; without one, `{}`.
         */
        bodies?: {
          multipart?: boolean;
          xml?: boolean;
          ndjson?: boolean;
          csv?: boolean;
          gzip?: boolean;
          max_bytes?: number;
        };
        /**
         * Default: that of `preset`; without one, `[]`.
         *
         * @maxItems 50
         */
        headers?: string[];
        /**
         * Default: that of `preset`; without one, `[]`.
         *
         * @maxItems 50
         */
        query?: string[];
        /**
         * Default: that of `preset`; without one, `null`.
         */
        filter?: string | null;
        /**
         * Default: that of `preset`; without one, `null`.
         */
        template?: string | null;
        /**
         * Default: that of `preset`; without one, `"refuse"`.
         */
        when_paused?: "refuse" | "hold";
        /**
         * Default: that of `preset`; without one, `"refuse"`.
         */
        when_disabled?: "refuse" | "swallow";
        /**
         * Default: that of `preset`; without one, `null`.
         */
        max_per_minute?: number | null;
        /**
         * Default: that of `preset`; without one, `{}`.
         */
        form?: {
          origins?: string[] | null;
          honeypot?: string | null;
          answer?:
            | (
                | {
                    redirect: string;
                  }
                | {
                    text: string;
                  }
              )
            | null;
        };
      } | null;
    }[];
  }[];
}
export interface CreateTriggerBody {
  name: string;
  prompt_prefix?: string;
  enabled?: boolean;
  allows_callback?: boolean;
  receiving?: {
    preset?:
      | (
          | "github"
          | "gitlab"
          | "stripe"
          | "slack"
          | "shopify"
          | "linear"
          | "twilio"
          | "standard-webhooks"
          | "svix"
          | "meta"
          | "dropbox"
          | "cloudevents"
          | "hmac"
          | "secret-header"
          | "basic"
          | "none"
        )
      | null;
    /**
     * Default: that of `preset`; without one, `{"kind":"none"}`.
     */
    verification?:
      | {
          kind: "none";
        }
      | {
          kind: "hmac";
          header: string;
          algorithm: "sha1" | "sha256" | "sha512";
          encoding: "hex" | "base64";
          prefix?: string;
          form?: "plain" | "pairs" | "list";
          /**
           * @minItems 1
           * @maxItems 10
           */
          signed: (
            | ("body" | "timestamp" | "id")
            | {
                literal: string;
              }
          )[];
          timestamp?:
            | (
                | {
                    header: string;
                  }
                | {
                    pair: string;
                  }
                | {
                    pointer: string;
                  }
              )
            | null;
          id?: {
            header: string;
          } | null;
          tolerance_seconds?: number;
          secret_encoding?: "text" | "hex" | "base64" | "whsec";
        }
      | {
          kind: "header";
          header: string;
          prefix?: string;
        }
      | {
          kind: "basic";
        }
      | {
          kind: "twilio";
        };
    /**
     * Default: that of `preset`; without one, `null`.
     */
    allowed_addresses?: string[] | null;
    /**
     * Default: that of `preset`; without one, `null`.
     */
    event_id?:
      | (
          | (
              | {
                  header: string;
                }
              | {
                  query: string;
                }
              | {
                  pointer: string;
                }
            )
          | "cloudevents"
        )
      | null;
    /**
     * Default: that of `preset`; without one, `7`.
     */
    event_id_days?: number;
    /**
     * Default: that of `preset`; without one, `null`.
     */
    event_type?:
      | (
          | (
              | {
                  header: string;
                }
              | {
                  query: string;
                }
              | {
                  pointer: string;
                }
            )
          | "cloudevents"
        )
      | null;
    /**
     * Default: that of `preset`; without one, `"none"`.
     */
    handshake?: "none" | "meta" | "dropbox" | "slack" | "cloudevents";
    /**
     * Default: that of `preset`; without one, `{}`.
     */
    bodies?: {
      multipart?: boolean;
      xml?: boolean;
      ndjson?: boolean;
      csv?: boolean;
      gzip?: boolean;
      max_bytes?: number;
    };
    /**
     * Default: that of `preset`; without one, `[]`.
     *
     * @maxItems 50
     */
    headers?: string[];
    /**
     * Default: that of `preset`; without one, `[]`.
     *
     * @maxItems 50
     */
    query?: string[];
    /**
     * Default: that of `preset`; without one, `null`.
     */
    filter?: string | null;
    /**
     * Default: that of `preset`; without one, `null`.
     */
    template?: string | null;
    /**
     * Default: that of `preset`; without one, `"refuse"`.
     */
    when_paused?: "refuse" | "hold";
    /**
     * Default: that of `preset`; without one, `"refuse"`.
     */
    when_disabled?: "refuse" | "swallow";
    /**
     * Default: that of `preset`; without one, `null`.
     */
    max_per_minute?: number | null;
    /**
     * Default: that of `preset`; without one, `{}`.
     */
    form?: {
      origins?: string[] | null;
      honeypot?: string | null;
      answer?:
        | (
            | {
                redirect: string;
              }
            | {
                text: string;
              }
          )
        | null;
    };
  } | null;
}
export interface ListTriggersQuery {
  /**
   * Maximum number of items of a page.
   */
  limit?: number;
  after?: string;
}
export interface UpdateTriggerBody {
  name?: string;
  prompt_prefix?: string;
  enabled?: boolean;
  allows_callback?: boolean;
  receiving?: {
    preset?:
      | (
          | "github"
          | "gitlab"
          | "stripe"
          | "slack"
          | "shopify"
          | "linear"
          | "twilio"
          | "standard-webhooks"
          | "svix"
          | "meta"
          | "dropbox"
          | "cloudevents"
          | "hmac"
          | "secret-header"
          | "basic"
          | "none"
        )
      | null;
    /**
     * Default: that of `preset`; without one, `{"kind":"none"}`.
     */
    verification?:
      | {
          kind: "none";
        }
      | {
          kind: "hmac";
          header: string;
          algorithm: "sha1" | "sha256" | "sha512";
          encoding: "hex" | "base64";
          prefix?: string;
          form?: "plain" | "pairs" | "list";
          /**
           * @minItems 1
           * @maxItems 10
           */
          signed: (
            | ("body" | "timestamp" | "id")
            | {
                literal: string;
              }
          )[];
          timestamp?:
            | (
                | {
                    header: string;
                  }
                | {
                    pair: string;
                  }
                | {
                    pointer: string;
                  }
              )
            | null;
          id?: {
            header: string;
          } | null;
          tolerance_seconds?: number;
          secret_encoding?: "text" | "hex" | "base64" | "whsec";
        }
      | {
          kind: "header";
          header: string;
          prefix?: string;
        }
      | {
          kind: "basic";
        }
      | {
          kind: "twilio";
        };
    /**
     * Default: that of `preset`; without one, `null`.
     */
    allowed_addresses?: string[] | null;
    /**
     * Default: that of `preset`; without one, `null`.
     */
    event_id?:
      | (
          | (
              | {
                  header: string;
                }
              | {
                  query: string;
                }
              | {
                  pointer: string;
                }
            )
          | "cloudevents"
        )
      | null;
    /**
     * Default: that of `preset`; without one, `7`.
     */
    event_id_days?: number;
    /**
     * Default: that of `preset`; without one, `null`.
     */
    event_type?:
      | (
          | (
              | {
                  header: string;
                }
              | {
                  query: string;
                }
              | {
                  pointer: string;
                }
            )
          | "cloudevents"
        )
      | null;
    /**
     * Default: that of `preset`; without one, `"none"`.
     */
    handshake?: "none" | "meta" | "dropbox" | "slack" | "cloudevents";
    /**
     * Default: that of `preset`; without one, `{}`.
     */
    bodies?: {
      multipart?: boolean;
      xml?: boolean;
      ndjson?: boolean;
      csv?: boolean;
      gzip?: boolean;
      max_bytes?: number;
    };
    /**
     * Default: that of `preset`; without one, `[]`.
     *
     * @maxItems 50
     */
    headers?: string[];
    /**
     * Default: that of `preset`; without one, `[]`.
     *
     * @maxItems 50
     */
    query?: string[];
    /**
     * Default: that of `preset`; without one, `null`.
     */
    filter?: string | null;
    /**
     * Default: that of `preset`; without one, `null`.
     */
    template?: string | null;
    /**
     * Default: that of `preset`; without one, `"refuse"`.
     */
    when_paused?: "refuse" | "hold";
    /**
     * Default: that of `preset`; without one, `"refuse"`.
     */
    when_disabled?: "refuse" | "swallow";
    /**
     * Default: that of `preset`; without one, `null`.
     */
    max_per_minute?: number | null;
    /**
     * Default: that of `preset`; without one, `{}`.
     */
    form?: {
      origins?: string[] | null;
      honeypot?: string | null;
      answer?:
        | (
            | {
                redirect: string;
              }
            | {
                text: string;
              }
          )
        | null;
    };
  } | null;
}
export interface RotateTriggerBody {
  grace_seconds?: number;
}
export interface TestTriggerBody {
  payload?: unknown;
  content_type?: string;
  request?: {
    request_id?: string;
    example?: {
      preset:
        | "github"
        | "gitlab"
        | "stripe"
        | "slack"
        | "shopify"
        | "linear"
        | "twilio"
        | "standard-webhooks"
        | "svix"
        | "meta"
        | "dropbox"
        | "cloudevents"
        | "hmac"
        | "secret-header"
        | "basic"
        | "none";
      name: string;
    };
    payload?: unknown;
    content_type?: string;
    headers?: {
      [k: string]: string;
    };
    query?: {
      [k: string]: string;
    };
  };
}
export interface SetTriggerSecretAnswer {
  secret: string;
  verify_token: string | null;
  previous_until: string | null;
}
export interface SetTriggerSecretBody {
  /**
   * If absent, one is generated. With only `verify_token`, the stored secret is kept instead.
   */
  secret?: string;
  /**
   * Meta's verify token. If absent, the stored one is kept, or one is generated for Meta.
   */
  verify_token?: string;
  /**
   * For how long the secret that is replaced is also accepted, in seconds. If `secret` is the stored one, nothing is replaced; only 0 then ends an earlier grace period.
   */
  grace_seconds?: number;
}
export interface RevealTriggerSecretAnswer {
  secret: string;
  verify_token: string | null;
  previous_until: string | null;
}
export interface ListenTriggerBody {
  seconds?: number;
}
export interface ListTriggerRequestsQuery {
  /**
   * Maximum number of items of a page.
   */
  limit?: number;
  after?: string;
  outcome?:
    | "started"
    | "held"
    | "repeated"
    | "mapping_error"
    | "limit_reached"
    | "filtered"
    | "captured"
    | "honeypot"
    | "swallowed"
    | "invalid_signature"
    | "rejected";
  event_type?: string;
}
export interface ReplayTriggerRequestsAnswer {
  replayed: number;
  skipped: number;
  more: boolean;
  next_until: string | null;
}
export interface ReplayTriggerRequestsBody {
  since: string;
  until?: string;
  outcome?:
    | "started"
    | "held"
    | "repeated"
    | "mapping_error"
    | "limit_reached"
    | "filtered"
    | "captured"
    | "honeypot"
    | "swallowed"
    | "invalid_signature"
    | "rejected";
  version?: "current" | "original";
}
export interface ReplayTriggerRequestBody {
  version?: "current" | "original";
}
export interface PreviewTriggerBody {
  request: {
    request_id?: string;
    example?: {
      preset:
        | "github"
        | "gitlab"
        | "stripe"
        | "slack"
        | "shopify"
        | "linear"
        | "twilio"
        | "standard-webhooks"
        | "svix"
        | "meta"
        | "dropbox"
        | "cloudevents"
        | "hmac"
        | "secret-header"
        | "basic"
        | "none";
      name: string;
    };
    payload?: unknown;
    content_type?: string;
    headers?: {
      [k: string]: string;
    };
    query?: {
      [k: string]: string;
    };
  };
  receiving?: {
    preset?:
      | (
          | "github"
          | "gitlab"
          | "stripe"
          | "slack"
          | "shopify"
          | "linear"
          | "twilio"
          | "standard-webhooks"
          | "svix"
          | "meta"
          | "dropbox"
          | "cloudevents"
          | "hmac"
          | "secret-header"
          | "basic"
          | "none"
        )
      | null;
    /**
     * Default: that of `preset`; without one, `{"kind":"none"}`.
     */
    verification?:
      | {
          kind: "none";
        }
      | {
          kind: "hmac";
          header: string;
          algorithm: "sha1" | "sha256" | "sha512";
          encoding: "hex" | "base64";
          prefix?: string;
          form?: "plain" | "pairs" | "list";
          /**
           * @minItems 1
           * @maxItems 10
           */
          signed: (
            | ("body" | "timestamp" | "id")
            | {
                literal: string;
              }
          )[];
          timestamp?:
            | (
                | {
                    header: string;
                  }
                | {
                    pair: string;
                  }
                | {
                    pointer: string;
                  }
              )
            | null;
          id?: {
            header: string;
          } | null;
          tolerance_seconds?: number;
          secret_encoding?: "text" | "hex" | "base64" | "whsec";
        }
      | {
          kind: "header";
          header: string;
          prefix?: string;
        }
      | {
          kind: "basic";
        }
      | {
          kind: "twilio";
        };
    /**
     * Default: that of `preset`; without one, `null`.
     */
    allowed_addresses?: string[] | null;
    /**
     * Default: that of `preset`; without one, `null`.
     */
    event_id?:
      | (
          | (
              | {
                  header: string;
                }
              | {
                  query: string;
                }
              | {
                  pointer: string;
                }
            )
          | "cloudevents"
        )
      | null;
    /**
     * Default: that of `preset`; without one, `7`.
     */
    event_id_days?: number;
    /**
     * Default: that of `preset`; without one, `null`.
     */
    event_type?:
      | (
          | (
              | {
                  header: string;
                }
              | {
                  query: string;
                }
              | {
                  pointer: string;
                }
            )
          | "cloudevents"
        )
      | null;
    /**
     * Default: that of `preset`; without one, `"none"`.
     */
    handshake?: "none" | "meta" | "dropbox" | "slack" | "cloudevents";
    /**
     * Default: that of `preset`; without one, `{}`.
     */
    bodies?: {
      multipart?: boolean;
      xml?: boolean;
      ndjson?: boolean;
      csv?: boolean;
      gzip?: boolean;
      max_bytes?: number;
    };
    /**
     * Default: that of `preset`; without one, `[]`.
     *
     * @maxItems 50
     */
    headers?: string[];
    /**
     * Default: that of `preset`; without one, `[]`.
     *
     * @maxItems 50
     */
    query?: string[];
    /**
     * Default: that of `preset`; without one, `null`.
     */
    filter?: string | null;
    /**
     * Default: that of `preset`; without one, `null`.
     */
    template?: string | null;
    /**
     * Default: that of `preset`; without one, `"refuse"`.
     */
    when_paused?: "refuse" | "hold";
    /**
     * Default: that of `preset`; without one, `"refuse"`.
     */
    when_disabled?: "refuse" | "swallow";
    /**
     * Default: that of `preset`; without one, `null`.
     */
    max_per_minute?: number | null;
    /**
     * Default: that of `preset`; without one, `{}`.
     */
    form?: {
      origins?: string[] | null;
      honeypot?: string | null;
      answer?:
        | (
            | {
                redirect: string;
              }
            | {
                text: string;
              }
          )
        | null;
    };
  } | null;
  prompt_prefix?: string;
}
export interface ListRunsQuery {
  /**
   * Maximum number of items of a page.
   */
  limit?: number;
  after?: string;
  agent_id?: string;
  trigger_id?: string;
  external_id?: string;
  tag?: string;
  error?: string;
  created_after?: string;
  created_before?: string;
  /**
   * Comma-separated list of: waiting, queued, running, succeeded, failed, cancelled.
   */
  status?: string;
  /**
   * Comma-separated list of: invoke, trigger, draft.
   */
  source?: string;
  text?: string;
  /**
   * `summary`: `input` and `output` have at most 200 characters.
   */
  view?: "full" | "summary";
}
export interface ListAgentRunsQuery {
  /**
   * Maximum number of items of a page.
   */
  limit?: number;
  after?: string;
  trigger_id?: string;
  external_id?: string;
  tag?: string;
  error?: string;
  created_after?: string;
  created_before?: string;
  /**
   * Comma-separated list of: waiting, queued, running, succeeded, failed, cancelled.
   */
  status?: string;
  /**
   * Comma-separated list of: invoke, trigger, draft.
   */
  source?: string;
  text?: string;
  /**
   * `summary`: `input` and `output` have at most 200 characters.
   */
  view?: "full" | "summary";
}
export interface StartDraftRunBody {
  input: string;
  config: {
    name?: string;
    model?: string;
    instructions?: string;
    description?: string;
    model_settings?: {
      temperature?: number | null;
      max_output_tokens?: number | null;
      reasoning_effort?: ("none" | "minimal" | "low" | "medium" | "high" | "xhigh") | null;
      /**
       * `auto` streams the model's response if the run has subscribers, or if the response could take minutes: `max_output_tokens` is above 8,192, or `reasoning_effort` is `medium` or higher, or if a call of the model ended in the last hour because its answer took too long for a gateway.
       */
      stream?: "auto" | "always" | "never";
    };
    /**
     * @maxItems 64
     */
    tools?: (
      | {
          type: "clock";
        }
      | {
          type: "http";
          name: string;
          description?: string;
          /**
           * @minItems 1
           * @maxItems 50
           */
          allowed_hosts: string[];
          headers?: {
            [k: string]:
              | string
              | {
                  secret: string;
                  prefix?: string;
                }
              | {
                  secret_id: string;
                  secret_last4?: string | null;
                  prefix?: string;
                };
          };
          query?: {
            [k: string]:
              | string
              | {
                  secret: string;
                  prefix?: string;
                }
              | {
                  secret_id: string;
                  secret_last4?: string | null;
                  prefix?: string;
                };
          };
          /**
           * @minItems 1
           * @maxItems 64
           */
          operations: {
            name: string;
            description: string;
            method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
            url: string;
            query?: {
              [k: string]:
                | string
                | {
                    secret: string;
                    prefix?: string;
                  }
                | {
                    secret_id: string;
                    secret_last4?: string | null;
                    prefix?: string;
                  };
            };
            headers?: {
              [k: string]:
                | string
                | {
                    secret: string;
                    prefix?: string;
                  }
                | {
                    secret_id: string;
                    secret_last4?: string | null;
                    prefix?: string;
                  };
            };
            parameters?: {
              [k: string]: unknown;
            };
            body?: unknown;
            body_type?: "json" | "form";
            safe_to_repeat?: boolean;
            idempotency_header?: string;
          }[];
          timeout_seconds?: number;
          max_response_bytes?: number;
          max_calls_per_run?: number;
        }
    )[];
    limits?: {
      /**
       * Maximum number of steps of a run. A step is one model call and the tool calls that its answer requests. If the last step requests tool calls, they are not made, and the run fails with `step_limit`.
       */
      max_steps?: number;
      /**
       * Maximum seconds from the first start of a run to its end. A run that takes longer fails with `deadline_exceeded`. Two waits do not count: after the exit of the run's process, until another process resumes the run, and in the queue after a process that shuts down has released the run.
       */
      timeout_seconds?: number;
      /**
       * Maximum number of runs of the agent that are executed at the same time; null means no limit. Further runs are queued.
       */
      max_concurrent_runs?: number | null;
      /**
       * Maximum number of queued runs of the agent. Further starts are rejected with 429 `agent_busy`.
       */
      max_queued_runs?: number;
      /**
       * Maximum number of attempts of a run. If a process exits while it executes the run, another process resumes the run in a new attempt. If it exits during the last attempt, the run fails with `interrupted`, unless other runs on their last attempt can be the cause.
       */
      max_attempts?: number;
      /**
       * Maximum bytes of one model response. Of a streamed response, this is the maximum of its content; the whole stream can have 8 times as many bytes. A longer response fails the run with `model_error`.
       */
      max_answer_bytes?: number;
      /**
       * Maximum cost of one run in micro-dollars; null means no limit. The maximum output tokens of a model call are lowered so that the call cannot exceed it. The run fails with `ceiling_reached` if too few tokens are left for a useful call, or if the lowered maximum truncates an answer.
       */
      max_cost_micros?: number | null;
      /**
       * Maximum output tokens of a model call, and the number of tokens whose cost is reserved before it. It applies if `max_output_tokens` is not set, and the run has a limit (a ceiling, an allowance of cost or tokens, or `max_cost_micros`) or the model is of another server with Anthropic's API. An answer that is truncated there fails the run with `model_error`.
       */
      reserve_output_tokens?: number;
    };
    metadata?: {
      [k: string]: unknown;
    };
  };
}
export interface GetRunStatsQuery {
  agent_id?: string;
  trigger_id?: string;
  external_id?: string;
  tag?: string;
  error?: string;
  created_after?: string;
  created_before?: string;
  /**
   * Comma-separated list of: waiting, queued, running, succeeded, failed, cancelled.
   */
  status?: string;
  /**
   * Comma-separated list of: invoke, trigger.
   */
  source?: string;
  /**
   * Duration of a bucket. Days are those of the workspace's time zone.
   */
  bucket?: "minute" | "hour" | "day";
  group_by?: "agent";
}
export interface CancelRunsAnswer {
  cancelled: number;
  next: string | null;
}
export interface CancelRunsBody {
  filter?: {
    agent_id?: string;
    trigger_id?: string;
    external_id?: string;
    tag?: string;
    error?: string;
    created_after?: string;
    created_before?: string;
    /**
     * @minItems 1
     * @maxItems 5
     */
    status?: ("waiting" | "queued" | "running")[];
    /**
     * @minItems 1
     * @maxItems 5
     */
    source?: ("invoke" | "trigger" | "draft")[];
  };
  all?: true;
  after?: string;
}
export interface RetryRunBody {
  version?: "current" | "original";
  input?: string;
}
export interface DeleteRunsAnswer {
  deleted: number;
  next: string | null;
}
export interface DeleteRunsBody {
  filter?: {
    agent_id?: string;
    trigger_id?: string;
    external_id?: string;
    tag?: string;
    error?: string;
    created_after?: string;
    created_before?: string;
    /**
     * @minItems 1
     * @maxItems 5
     */
    status?: ("succeeded" | "failed" | "cancelled")[];
    /**
     * @minItems 1
     * @maxItems 5
     */
    source?: ("invoke" | "trigger" | "draft")[];
  };
  all?: true;
  after?: string;
}
export interface ListRunEventsQuery {
  /**
   * Only for pages, by default 50. A stream rejects it.
   */
  limit?: number;
  after?: number;
  /**
   * `summary`: events without texts, arguments and results.
   */
  view?: "full" | "summary";
}
export interface ListRunDeliveriesQuery {
  /**
   * Maximum number of items of a page.
   */
  limit?: number;
  after?: string;
}
export interface ListEventsQuery {
  /**
   * Only for pages, by default 50. A stream rejects it.
   */
  limit?: number;
  after?: string;
  agent_id?: string;
  /**
   * Comma-separated list of: run.queued, run.waiting, run.started, run.resumed, run.step, run.step_lost, run.tool_call, run.tool_result, run.finished, run.failed, run.cancelled, agent.paused, agent.resumed, usage.threshold, subscription.disabled.
   */
  kind?: string;
  /**
   * `summary`: events without texts, arguments and results.
   */
  view?: "full" | "summary";
  /**
   * `true`: an event that ends a run can replace the run's earlier events. Needs `run.finished`, `run.failed` and `run.cancelled` in `kind`, or no `kind`.
   */
  merge?: "true" | "false";
}
export interface CreateSubscriptionBody {
  url: string;
  description?: string;
  /**
   * @minItems 1
   * @maxItems 9
   */
  event_types: (
    | "run.started"
    | "run.tool_call"
    | "run.finished"
    | "run.failed"
    | "run.cancelled"
    | "usage.threshold"
    | "agent.paused"
    | "agent.resumed"
    | "subscription.disabled"
  )[];
  /**
   * Only events of these agents, which include `usage.threshold` of their ceilings. null: of all agents, including future ones. Not together with `subscription.disabled`.
   */
  agent_ids?: string[] | null;
  /**
   * Only events of runs that one of these triggers started. null: of all runs. Only together with events of runs: `agent.*`, `usage.threshold` and `subscription.disabled` belong to no run.
   */
  trigger_ids?: string[] | null;
  /**
   * Only events of runs that have at least one of these tags. null: of all runs. Only together with events of runs: `agent.*`, `usage.threshold` and `subscription.disabled` belong to no run.
   */
  tags?: string[] | null;
  payload?: "full" | "thin";
  format?: "standard" | "cloudevents";
  secret?: string;
  headers?: {
    [k: string]: string;
  };
}
export interface ListSubscriptionsQuery {
  /**
   * Maximum number of items of a page.
   */
  limit?: number;
  after?: string;
}
export interface UpdateSubscriptionBody {
  url?: string;
  description?: string;
  /**
   * @minItems 1
   * @maxItems 9
   */
  event_types?: (
    | "run.started"
    | "run.tool_call"
    | "run.finished"
    | "run.failed"
    | "run.cancelled"
    | "usage.threshold"
    | "agent.paused"
    | "agent.resumed"
    | "subscription.disabled"
  )[];
  /**
   * Only events of these agents, which include `usage.threshold` of their ceilings. null: of all agents, including future ones. Not together with `subscription.disabled`.
   */
  agent_ids?: string[] | null;
  /**
   * Only events of runs that one of these triggers started. null: of all runs. Only together with events of runs: `agent.*`, `usage.threshold` and `subscription.disabled` belong to no run.
   */
  trigger_ids?: string[] | null;
  /**
   * Only events of runs that have at least one of these tags. null: of all runs. Only together with events of runs: `agent.*`, `usage.threshold` and `subscription.disabled` belong to no run.
   */
  tags?: string[] | null;
  payload?: "full" | "thin";
  format?: "standard" | "cloudevents";
  secret?: string;
  headers?: {
    [k: string]: string;
  };
}
export interface RotateSubscriptionSecretBody {
  secret?: string;
  grace_seconds?: number;
}
export interface TestSubscriptionBody {
  type?:
    | "run.started"
    | "run.tool_call"
    | "run.finished"
    | "run.failed"
    | "run.cancelled"
    | "usage.threshold"
    | "agent.paused"
    | "agent.resumed"
    | "subscription.disabled";
}
export interface ReplayDeliveriesAnswer {
  replayed: number;
  more: boolean;
  next_until: string | null;
}
export interface ReplayDeliveriesBody {
  since: string;
  until?: string;
  which?: "missed" | "all";
}
export interface ListDeliveriesQuery {
  /**
   * Maximum number of items of a page.
   */
  limit?: number;
  after?: string;
  /**
   * Comma-separated list of: pending, succeeded, failed, cancelled, not_sent.
   */
  status?: string;
  /**
   * Comma-separated list of: run.started, run.tool_call, run.finished, run.failed, run.cancelled, usage.threshold, agent.paused, agent.resumed, subscription.disabled.
   */
  type?: string;
  run_id?: string;
}
export interface CreateProviderBody {
  name: string;
  kind: "openai" | "openai-chat" | "anthropic" | "google" | "openai-compatible";
  base_url?: string;
  api_key?: string;
  free?: boolean;
}
export interface ListProvidersQuery {
  /**
   * Maximum number of items of a page.
   */
  limit?: number;
  after?: string;
}
export interface UpdateProviderBody {
  base_url?: string | null;
  api_key?: string | null;
  free?: boolean;
}
export interface ListModelsQuery {
  /**
   * Maximum number of items of a page.
   */
  limit?: number;
  after?: string;
}
export interface CreatePriceBody {
  model: string;
  input_micros_per_million: number;
  output_micros_per_million: number;
  cached_input_micros_per_million?: number | null;
  cache_write_micros_per_million?: number | null;
}
export interface ListPricesQuery {
  /**
   * Maximum number of items of a page.
   */
  limit?: number;
  after?: string;
  model?: string;
}
export interface UpdatePriceBody {
  input_micros_per_million?: number;
  output_micros_per_million?: number;
  cached_input_micros_per_million?: number | null;
  cache_write_micros_per_million?: number | null;
}
export interface ImportHttpToolAnswer {
  tool: {
    [k: string]: unknown;
  };
  warnings: string[];
  operations: {
    id: string;
    method: string;
    path: string;
    name: string | null;
  }[];
}
export interface ImportHttpToolBody {
  document:
    | string
    | {
        [k: string]: unknown;
      };
  /**
   * @minItems 1
   * @maxItems 64
   */
  operations?: string[];
  server?: string;
}
export interface CreateKeyBody {
  name: string;
  /**
   * @minItems 1
   * @maxItems 100
   */
  scopes?: (
    | "agents:read"
    | "agents:write"
    | "agents:invoke"
    | "triggers:read"
    | "triggers:write"
    | "runs:read"
    | "runs:write"
    | "providers:read"
    | "providers:write"
    | "subscriptions:read"
    | "subscriptions:write"
    | "limits:write"
    | "plans:write"
    | "keys:read"
    | "keys:write"
    | "usage:read"
    | "audit:read"
    | "members:read"
    | "members:write"
    | "workspaces:read"
    | "workspaces:write"
    | "workspaces:own"
  )[];
  preset?: "invoke" | "observer" | "operator" | "everything";
  agent_ids?: string[] | null;
  expires_in_days?: number | null;
  expires_at?: string | null;
}
export interface ListKeysQuery {
  /**
   * Maximum number of items of a page.
   */
  limit?: number;
  after?: string;
}
export interface UpdateKeyBody {
  name?: string;
  /**
   * @minItems 1
   * @maxItems 100
   */
  scopes?: (
    | "agents:read"
    | "agents:write"
    | "agents:invoke"
    | "triggers:read"
    | "triggers:write"
    | "runs:read"
    | "runs:write"
    | "providers:read"
    | "providers:write"
    | "subscriptions:read"
    | "subscriptions:write"
    | "limits:write"
    | "plans:write"
    | "keys:read"
    | "keys:write"
    | "usage:read"
    | "audit:read"
    | "members:read"
    | "members:write"
    | "workspaces:read"
    | "workspaces:write"
    | "workspaces:own"
  )[];
  preset?: "invoke" | "observer" | "operator" | "everything";
  agent_ids?: string[] | null;
  expires_in_days?: number | null;
  expires_at?: string | null;
}
export interface RotateKeyBody {
  grace_seconds?: number;
}
export interface GetUsageQuery {
  /**
   * Maximum number of rows of a page, by default 1,000. Not with `format=csv`.
   */
  limit?: number;
  /**
   * The `next` of the previous page. Not with `format=csv`.
   */
  after?: string;
  /**
   * First day, in the workspace's time zone, or an RFC 3339 time, inclusive. By default the report has 30 days.
   */
  from?: string;
  /**
   * Last day, inclusive, or an RFC 3339 time, exclusive. Default: now if `from` is a time, else today or the newest day with usage, whichever is later.
   */
  to?: string;
  /**
   * Comma-separated list of at most two of: day, hour, agent, model, caller, metric, tag. Default: day.
   */
  group_by?: string;
  agent_id?: string;
  /**
   * `provider/model`.
   */
  model?: string;
  /**
   * As in the rows, for example `key:key_…`.
   */
  caller?: string;
  /**
   * One of the run's tags.
   */
  tag?: string;
}
export interface ListLimitsQuery {
  /**
   * Maximum number of items of a page.
   */
  limit?: number;
  after?: string;
  scope?: "workspace" | "agent" | "key" | "trigger";
}
export interface SetLimitBody {
  limit_micros: number;
  pauses_agent?: boolean;
}
export interface ListPlansQuery {
  /**
   * Maximum number of items of a page.
   */
  limit?: number;
  after?: string;
}
export interface CreatePlanBody {
  name: string;
  tokens?: number | null;
  voice_ms?: number | null;
  browser_ms?: number | null;
  cost_micros?: number | null;
}
export interface UpdatePlanBody {
  tokens?: number | null;
  voice_ms?: number | null;
  browser_ms?: number | null;
  cost_micros?: number | null;
}
export interface ListWorkspacePlansQuery {
  /**
   * Maximum number of items of a page.
   */
  limit?: number;
  after?: string;
  /**
   * Only workspaces that are on this plan or change to it.
   */
  plan?: string;
}
export interface UpdateWorkspacePlanBody {
  plan?: string;
  takes_effect?: "now" | "period_end";
  anchor_day?: number;
}
export interface ListAuditQuery {
  /**
   * Maximum number of items of a page.
   */
  limit?: number;
  after?: string;
  actor?: string;
  action?: string;
  target?: string;
  since?: string;
  until?: string;
}
export interface ExportAuditQuery {
  actor?: string;
  action?: string;
  target?: string;
  since?: string;
  until?: string;
}
export interface ListWorkspacesQuery {
  /**
   * Maximum number of items of a page.
   */
  limit?: number;
  after?: string;
}
export interface CreateWorkspaceBody {
  name: string;
  time_zone?: string;
}
export interface UpdateWorkspaceBody {
  name?: string;
  time_zone?: string;
  run_retention_days?: number | null;
}
export interface ListMembersQuery {
  /**
   * Maximum number of items of a page.
   */
  limit?: number;
  after?: string;
}
export interface UpdateMemberBody {
  role: "owner" | "admin" | "editor" | "viewer";
}
export interface CreateInvitationBody {
  email: string;
  role: "owner" | "admin" | "editor" | "viewer";
  expires_in_days?: number;
}
export interface ListInvitationsQuery {
  /**
   * Maximum number of items of a page.
   */
  limit?: number;
  after?: string;
}
export interface SetUpBody {
  token: string;
  name: string;
  email: string;
  password: string;
}
export interface CheckSetupBody {
  token: string;
}
export interface SignInBody {
  email: string;
  password: string;
  workspace_id?: string;
  preferred_workspace_id?: string;
}
export interface UpdateMeBody {
  name?: string;
}
export interface ListSessionsQuery {
  /**
   * Maximum number of items of a page.
   */
  limit?: number;
  after?: string;
}
export interface ChangePasswordBody {
  current_password: string;
  new_password: string;
}
export interface ResetPasswordBody {
  token: string;
  new_password: string;
}
export interface CheckPasswordResetBody {
  token: string;
}
export interface CheckInvitationBody {
  token: string;
}
export interface AcceptInvitationBody {
  token: string;
  name?: string;
  email?: string;
  password?: string;
}
