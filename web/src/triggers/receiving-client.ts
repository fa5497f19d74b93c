import type { Client, Listing, Run, Trigger } from "@beckon/client";
import type {
  Preset,
  Preview,
  ReceivedRequest,
  ReceivedRequestDetails,
  Receiving,
  SenderSecrets,
} from "@beckon/contract";

/** Operations on what triggers receive. */
export interface ReceivingClient {
  readonly presets: (options?: object) => Promise<Preset[]>;
  readonly setSecret: (a: string, t: string, body: object, o?: object) => Promise<SenderSecrets>;
  readonly revealSecret: (a: string, t: string, o?: object) => Promise<SenderSecrets>;
  readonly listRequests: (
    a: string,
    t: string,
    query: object,
    o?: object,
  ) => Listing<ReceivedRequest>;
  readonly getRequest: (
    a: string,
    t: string,
    r: string,
    o?: object,
  ) => Promise<ReceivedRequestDetails>;
  readonly replayRequest: (
    a: string,
    t: string,
    r: string,
    body: object,
    o?: object,
  ) => Promise<Run>;
  readonly replayRequests: (
    a: string,
    t: string,
    body: object,
    o?: object,
  ) => Promise<{ replayed: number; more: boolean }>;
  readonly listen: (
    a: string,
    t: string,
    body: object,
    o?: object,
  ) => Promise<{ listening_until: string }>;
  readonly stopListening: (a: string, t: string, o?: object) => Promise<void>;
  readonly preview: (a: string, t: string, body: object, o?: object) => Promise<Preview>;
}

/** The members of a trigger that say what it receives. */
export interface ReceivingTrigger extends Trigger {
  readonly receiving: Receiving | null;
  readonly sender_secret_set: boolean;
  readonly listening_until: string | null;
}

export const receivingClient = (client: Client): ReceivingClient =>
  client.triggers as unknown as ReceivingClient;
