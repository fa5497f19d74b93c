/** A part of a model's answer in the data of a journal entry. */
export interface AnswerPart {
  readonly type: string;
  readonly text?: string;
  readonly tool?: string;
  readonly call_id?: string;
  readonly arguments?: string;
}
