/**
 * An audit computed again from its verdicts. Hashes show that a file is the one that was written, not
 * that the verdicts give these findings: whoever edits a file can write its hash anew.
 */

import { SPLITS } from "../core/environment.ts";
import { canonicalJson } from "../core/json.ts";
import type { AuditJudgement, JudgeAudit, JudgeAuditManifest } from "../runs/judge-audit-schema.ts";
import { type AuditQuestion, auditOf } from "./audit.ts";
import { embeddedReplies } from "./embedded-data.ts";
import { judgementOf } from "./judgement.ts";
import { hashOf, type LabelledData, limited } from "./labelled.ts";
import { type AuditRequest, auditRequests, REQUESTS_OF_PAIR } from "./requests.ts";

export interface WrittenAudit {
  readonly manifest: Pick<JudgeAuditManifest, "data" | "inputs" | "settings">;
  readonly audit: JudgeAudit;
  readonly judgements: readonly AuditJudgement[];
}

type Data = Pick<LabelledData, "pairs" | "groups">;

/** Undefined where the verdicts are about the audit's requests and give its findings. */
export function whyNotMadeAgain({ manifest, audit, judgements }: WrittenAudit): string | undefined {
  const { data, settings } = manifest;
  const needed = REQUESTS_OF_PAIR * data.pairs + data.groups;
  if (judgements.length !== needed)
    return `it has ${judgements.length} verdicts, and its ${data.pairs} pairs and ${data.groups} groups make ${needed} requests`;
  const known = embeddedData(manifest);
  if (known && hashOf(known) !== data.sha256)
    return `its labelled data is not ${data.source} of this version`;
  const requests = [...auditRequests(known ?? dataIn(judgements, data.pairs), settings.seed)];
  const isOther = (line: AuditJudgement, i: number) =>
    asked(line, known) !== asked(withoutVerdict(requests[i] as AuditRequest), known);
  const wrong = judgements.find((line, i) => isOther(line, i) || !isWhole(line));
  if (wrong) return `${wrong.id} (${wrong.probe}) is not a verdict on the request of that name`;
  const again = auditOf(audit.judge, judgements, questionOf(settings));
  if (canonicalJson(again) === canonicalJson(audit)) return undefined;
  return "its verdicts do not give its findings, as this version computes them";
}

/** Undefined for data of somebody's own, which is not at hand. */
function embeddedData({ data, inputs, settings }: WrittenAudit["manifest"]) {
  const split = SPLITS.find((one) => embeddedReplies(one).source === data.source);
  if (split === undefined || inputs.length > 0) return undefined;
  return limited(embeddedReplies(split), settings.limit ?? undefined);
}

/** As much of the labelled data as the verdicts tell: ids, and the worth of the attempts of a group. */
function dataIn(judgements: readonly AuditJudgement[], pairs: number): Data {
  const groups = judgements.slice(REQUESTS_OF_PAIR * pairs);
  return {
    pairs: Array.from({ length: pairs }, (_, i) => ({
      ...{ id: judgements[REQUESTS_OF_PAIR * i]?.id ?? "", better: [], worse: [], tools: [] },
    })),
    groups: groups.map(({ id, attempts }) => {
      const inOrder = attempts.toSorted((a, b) => Number(a.name) - Number(b.name));
      const worth = inOrder.map((one) => one.worth ?? 0);
      return { id, worth, attempts: inOrder.map(() => []), tools: [] };
    }),
  };
}

/** What a line says was asked; texts only where it is known what they must be. */
function asked(line: AuditJudgement, known: Data | undefined): string {
  const { id, probe, wording = null, attempts, prompt } = line;
  const shown = attempts.map(({ name, worth, text }) => ({ name, worth, ...(known && { text }) }));
  return canonicalJson({ id, probe, wording, shown, ...(known && { prompt }) });
}

function withoutVerdict(request: AuditRequest): AuditJudgement {
  const tokens = { prompt_tokens: 0, completion_tokens: 0 };
  const dropped = { type: "no_answer", message: "" } as const;
  return judgementOf(request, { id: request.id, dropped, tokens });
}

/** All attempts have scores, or none where there was no verdict. */
const isWhole = ({ attempts, dropped }: AuditJudgement) =>
  attempts.every(({ score }) => (score === null) === (dropped !== null));

function questionOf(settings: JudgeAuditManifest["settings"]): AuditQuestion {
  const { alpha, margin, noise_limit, accuracy_needed, dropped_limit, tasks, difference } =
    settings;
  return {
    ...{ alpha, margin, tasks, difference },
    noiseLimit: noise_limit,
    accuracyNeeded: accuracy_needed,
    droppedLimit: dropped_limit,
  };
}
