//! What blocks of rows keep from pass to pass: norms, which take longer to compute than the rest of most passes.
//!
//! What is kept is a function of a block's rows and of a pass, so a pass gives the same with it and without.

use super::row_map::RowMap;
use super::table::Carried;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// Blocks of which something is known at most, whatever they take.
const MOST_BLOCKS: usize = 1 << 20;

/// What blocks keep, by a key that is a block's own.
pub(super) struct Kept<K> {
    blocks: HashMap<K, Carried>,
    /// The last two maps, each held once.
    maps: Vec<Arc<RowMap>>,
    /// Of the norms.
    bytes: usize,
    /// The most that they may take.
    limit: usize,
}

impl<K: Hash + Eq> Kept<K> {
    /// Up to so many bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self { blocks: HashMap::new(), maps: Vec::new(), bytes: 0, limit }
    }

    /// What a block kept; it has to be kept again.
    pub(super) fn take(&mut self, block: &K) -> Carried {
        let carried = self.blocks.remove(block).unwrap_or_default();
        self.bytes -= size(&carried);
        carried
    }

    /// Keeps what fits.
    pub(super) fn keep(&mut self, block: K, mut carried: Carried) {
        for (map, _) in &mut carried.norms {
            match self.maps.iter().find(|known| *known == map) {
                Some(known) => *map = known.clone(),
                None => self.maps.push(map.clone()),
            }
        }
        if self.maps.len() > 2 {
            // Norms in older maps are asked for no more.
            self.maps.drain(..self.maps.len() - 2);
            let maps = &self.maps;
            self.bytes = 0;
            for block in self.blocks.values_mut() {
                block.norms.retain(|(map, _)| maps.contains(map));
                self.bytes += size(block);
            }
        }
        let maps = &self.maps;
        let mut room = self.limit.saturating_sub(self.bytes);
        // The last map's are asked for next.
        carried.norms.reverse();
        carried.norms.retain(|(map, norms)| {
            let fits = maps.contains(map) && size_of_val(norms.as_slice()) <= room;
            room -= if fits { size_of_val(norms.as_slice()) } else { 0 };
            fits
        });
        carried.norms.reverse();
        if self.blocks.len() >= MOST_BLOCKS {
            self.blocks.clear();
            self.bytes = 0;
        }
        self.bytes += size(&carried);
        self.blocks.insert(block, carried);
    }
}

/// The bytes of a block's norms.
fn size(carried: &Carried) -> usize {
    carried.norms.iter().map(|(_, norms)| size_of_val(norms.as_slice())).sum()
}
