/** Full-text search in the inbox. */

import MiniSearch from "minisearch";
import { inbox, type Mail } from "./inbox.ts";

export interface Query {
  readonly keywords: readonly string[];
  readonly from_addr?: string | undefined;
  readonly to_addr?: string | undefined;
  readonly sent_after?: string | undefined;
  readonly sent_before?: string | undefined;
  readonly max_results: number;
}

let index: MiniSearch<Mail> | undefined;

/** Mails that hold every keyword, the best first; equal ones in the order of the inbox. */
export function searchMails(query: Query): Mail[] {
  const { mails } = inbox();
  index ??= indexOf(mails);
  const wanted = (mail: Mail) =>
    (query.from_addr === undefined || mail.from === query.from_addr) &&
    (query.to_addr === undefined || mail.to === query.to_addr) &&
    (query.sent_after === undefined || mail.sent > query.sent_after) &&
    (query.sent_before === undefined || mail.sent < query.sent_before);
  return index
    .search(query.keywords.join(" "), { combineWith: "AND" })
    .map(({ id, score }) => ({ mail: mailWith(String(id)) as Mail, score }))
    .filter(({ mail }) => wanted(mail))
    .sort((a, b) => b.score - a.score || numberOf(a.mail) - numberOf(b.mail))
    .slice(0, query.max_results)
    .map(({ mail }) => mail);
}

export function mailWith(id: string): Mail | undefined {
  const at = /^m([1-9]\d{0,4})$/.exec(id)?.[1];
  return at === undefined ? undefined : inbox().mails[Number(at) - 1];
}

function indexOf(mails: readonly Mail[]): MiniSearch<Mail> {
  const made = new MiniSearch<Mail>({ idField: "message_id", fields: ["subject", "body"] });
  made.addAll(mails);
  return made;
}

const numberOf = ({ message_id }: Mail) => Number(message_id.slice(1));
