import { type InvalidInput, invalid } from "../refusal.ts";
import { no, ok, type Result } from "../result.ts";
import { type Criterion, criterionText, unproved, waiveOption } from "./checklist.ts";
import type { Run } from "./run.ts";

/**
 * One change of what a run is for. The operator changes the objective; after that the coordinator may put criteria into
 * other words. Changes are numbered within the run and never deleted, so the older words are kept.
 */
export interface RunChange {
  readonly runId: string;
  readonly number: number;
  /** The criterion whose words were replaced; null for the objective. */
  readonly criterion: number | null;
  readonly words: string;
  readonly wordsBefore: string | null;
  readonly changedBy: string;
  readonly changedAt: number;
}

interface By {
  readonly by: string;
  readonly now: number;
}

/**
 * The objective with the operator's words behind it. `undefined`: the last change of the objective said just that, and the
 * command is a repetition.
 */
export function changeObjective(
  run: Pick<Run, "id" | "objective">,
  before: readonly RunChange[],
  typed: string,
  { by, now }: By,
): Result<{ readonly objective: string; readonly change: RunChange } | undefined, InvalidInput> {
  const words = criterionText("words", typed);
  if (!words.ok) return words;
  const earlier = before.filter(({ criterion }) => criterion === null);
  if (earlier.at(-1)?.words === words.value) return ok(undefined);
  const number = nextNumber(before);
  const objective =
    run.objective === null ? words.value : `${run.objective} [change ${earlier.length + 1}: ${words.value}]`;
  return ok({
    objective,
    change: {
      runId: run.id,
      number,
      criterion: null,
      words: words.value,
      wordsBefore: run.objective,
      changedBy: by,
      changedAt: now,
    },
  });
}

/**
 * Do these words only take something back? As a criterion they could never be shown. Only plain forms count, as in `no xml
 * after all`: words that are taken for a wish become a criterion, which the operator can waive.
 */
export function isWithdrawal(words: string): boolean {
  const plain = words
    .trim()
    .toLowerCase()
    .replace(/[.!]+$/, "")
    .replaceAll("\u2019", "'")
    .replace(restStays, "");
  if (/[,;:.]|\b(?:but|instead|rather|only|when|if|unless|until)\b/.test(plain)) return false;
  return withdrawals.some((form) => form.test(plain));
}

/** Words behind a withdrawal that ask for nothing new. */
const restStays =
  /[,;:.]? *(?:(?:and|but) )?(?:the rest|everything else|all else|the other criteria) (?:stays?|remains?|is unchanged|as before|as it is)(?: (?:the same|as it is|as it was|as they are|unchanged))?$/;

const withdrawals = [
  /^(?:no|not|without|drop|skip|remove|cancel|leave out) .+ (?:after all|any ?more|any longer)$/,
  /^(?:forget|forget about|never ?mind|scrap) .+$/,
  /^(?:i|we) (?:no longer|do not|don't) (?:need|want) .+$/,
  /^.+ (?:is|are) (?:no longer|not) (?:needed|wanted|required|necessary)(?: any ?more| any longer| after all)?$/,
] as const;

/**
 * Gives a criterion other words and forgets its evidence, which was about the older words. A coordinator may do this
 * once per criterion after each change of the objective. Otherwise it could reword criteria until they fit the work.
 * Words of the operator stay until the operator changes them.
 */
export function amendCriterion(
  criterion: Criterion,
  before: readonly RunChange[],
  typed: string,
  { by, now, isOperator }: By & { readonly isOperator: boolean },
): Result<{ readonly criterion: Criterion; readonly change: RunChange }, InvalidInput> {
  const words = criterionText("text", typed);
  if (!words.ok) return words;
  const value = String(criterion.number);
  if (criterion.waivedAt !== null) {
    return no(invalid("number", "is waived and stays as it is; add another criterion", { value }));
  }
  const owner = wordedBy(criterion, before);
  if (!isOperator && isOperatorsWord(owner)) {
    const problem = `has the operator's own words, which only the operator changes; if they count no more, ask: a decision_gate with the option "${waiveOption(criterion.number)}", which does it when it is chosen; the operator may also type: ov run criteria waive ${criterion.number} --reason "<why>"`;
    return no(invalid("number", problem, { value }));
  }
  if (words.value === criterion.text) return no(invalid("text", "is what the criterion says already"));
  const last = before.findLast((one) => one.criterion === criterion.number)?.number ?? 0;
  const changed = before.findLast((one) => one.criterion === null)?.number ?? 0;
  if (!isOperator && changed <= last) {
    const problem =
      last === 0
        ? "may be put into other words only after the operator changed the objective: ov run change"
        : "was put into other words since the operator last changed the objective";
    return no(invalid("number", problem, { value }));
  }
  return ok({
    criterion: { ...criterion, ...unproved, text: words.value },
    change: {
      runId: criterion.runId,
      number: nextNumber(before),
      criterion: criterion.number,
      words: words.value,
      wordsBefore: criterion.text,
      changedBy: by,
      changedAt: now,
    },
  });
}

/** The author of the words that a criterion has now. */
const wordedBy = ({ number, addedBy }: Criterion, changes: readonly RunChange[]): string =>
  changes.findLast((one) => one.criterion === number)?.changedBy ?? addedBy;

/** Criteria that the coordinator may put into other words after a change of the objective. */
export const amendable = (criteria: readonly Criterion[], changes: readonly RunChange[]): readonly Criterion[] =>
  criteria.filter((one) => one.waivedAt === null && !isOperatorsWord(wordedBy(one, changes)));

const isOperatorsWord = (author: string): boolean => author === "operator" || author === "system";

/** Criteria in the operator's own words that a newer change of the operator may have taken back. */
export const maybeTakenBack = (
  criteria: readonly Criterion[],
  changes: readonly RunChange[],
  newest: number | null,
): readonly Criterion[] =>
  criteria.filter((one) => one.number !== newest && one.waivedAt === null && wordedBy(one, changes) === "operator");

const nextNumber = (before: readonly RunChange[]): number => Math.max(0, ...before.map(({ number }) => number)) + 1;
