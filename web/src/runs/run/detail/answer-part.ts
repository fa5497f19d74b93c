/** A part of what a model answered, as the journal has it. */
export interface AnswerPart {
  readonly type: string;
  readonly text?: string;
  readonly tool?: string;
  readonly call_id?: string;
  readonly arguments?: string;
}
