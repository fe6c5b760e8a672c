/** The game of the recipe, but it goes on to a tile of 256. */
import { game2048 } from "lockedroom/environments";

export default game2048("twenty48-to-256", 256);
