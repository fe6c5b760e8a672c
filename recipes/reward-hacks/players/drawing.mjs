// Random draws of the scripted players.

/** One of the players, each with its share in percent. */
export function drawn(players, rng) {
  let left = rng.below(100);
  return players.find(([share]) => {
    left -= share;
    return left < 0;
  })[1];
}

/** So many of the list, in its order. */
export function some(list, count, rng) {
  const chosen = new Set();
  while (chosen.size < count) chosen.add(rng.below(list.length));
  return list.filter((_, i) => chosen.has(i));
}

/** All of the list, in a random order. */
export function mixed(list, rng) {
  const left = [...list];
  return list.map(() => left.splice(rng.below(left.length), 1)[0]);
}
