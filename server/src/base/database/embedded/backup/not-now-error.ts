import { EmbeddedError } from "../embedded-error.ts";

/** A backup of the running PostgreSQL is not possible now. A later attempt can succeed. */
export class NotNowError extends EmbeddedError {}
