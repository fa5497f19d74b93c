export {
  areAllReported,
  areReportedAtClaim,
  areReportedAtRelease,
  journalLetters,
} from "./reported-calls.ts";
